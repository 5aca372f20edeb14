// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records the source of operations and the values of names, for warnings (lib/Lint), debuggers and editors.

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Records : Part {
public:
  using Part::Part;
  void warnConstantOperand(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  void rememberMultiplication(const SymValue &value, const BinaryExpr &expr);
  void rememberAccess(const SymValue &result, SourceRange range);
  void warnLostWeakness(const SymValue &left, const SymValue &right, DType common, bool isDivision, SourceRange range);
  void warnUnusedAdvance(const Expr &expr);
  void warnIgnoredAnnotation(const AnnAssignStmt &stmt, const SymValue &annotation, const SymValue &value);
  void observe(SourceRange range, const SymValue &value, bool isName = false);
  /// Records a variable. If `isAssigned`, the record is valid from the insertion point on. Otherwise it is valid
  /// wherever the value is available, as at the beginning of a loop body or after the loop.
  void recordVariable(const std::string &name, const Binding &binding, bool isAssigned = true);
  void recordVariables(const std::vector<std::string> &names);
  void dropErasedVariables(KernelOp kernel);
  void addLiveBranches(const IfStmt *stmt, size_t branch) { liveBranches[stmt].insert(branch); }

  KernelText text;
  struct NamedLiteral {
    std::string name;
    SourceRange definition;
  };
  /// Scalars that are run-time values only because a constant was assigned to a name.
  llvm::DenseMap<mlir::Value, NamedLiteral> namedLiterals;
  /// Possible branches of the 'if' statements that were reached; the else branch has the index after the last one.
  std::map<const IfStmt *, std::set<size_t>> liveBranches;
};

} // namespace tile::frontend
