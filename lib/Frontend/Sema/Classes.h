// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates classes: named tuples, aggregates and their objects, and enumerations.

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Classes : Part {
public:
  using Part::Part;
  const FunctionStmt *findMethod(const ClassStmt &type, const std::string &name, unsigned depth = 0);
  std::optional<SymValue> memberOf(const SymValue &value, const std::string &name, SourceRange range);
  SymValue instantiate(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range);
  std::optional<SymValue> declareNamedTuple(const std::vector<BoundArgument> &arguments);
  void assignAttribute(const AttributeExpr &target, const SymValue &value, SourceRange range);
  std::optional<SymValue> callSpecial(const SymValue &object, const std::string &name,
                                      const std::vector<SymValue> &arguments, SourceRange range);
  std::optional<SymValue> objectOperator(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  /// Calls an operator by its method name, as in x.__lshift__(4); returns nullopt if Python has no such operator.
  std::optional<SymValue> callOperator(const SymValue &receiver, llvm::StringRef name, const CallExpr &expr);

private:
  std::vector<const ClassStmt *> basesOf(const ClassStmt &type, unsigned depth);
  std::optional<SymValue> classConstant(const ClassStmt &type, const std::string &name, unsigned depth = 0);
  std::optional<SymValue> evaluateConstant(const ClassStmt &type, const std::string &name, unsigned depth);
  SymValue makeNamedTuple(const ClassStmt &type, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue makeObject(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range);
};

} // namespace tile::frontend
