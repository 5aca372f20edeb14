// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves the types and constants of a kernel's parameters, and the arguments that a launch passes.

#pragma once

#include "Frontend/Sema/KernelParameter.h"
#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Signature : Part {
public:
  using Part::Part;
  std::optional<SymValue> evaluateText(const std::string &text, const std::string &description);
  std::map<std::string, std::string> resolveDeclared(const FunctionStmt &kernel, const InstanceDirective *instance,
                                                     ResolvedParameters &resolved);
  bool resolveParameters(const FunctionStmt &kernel, const InstanceDirective *instance,
                         std::vector<KernelParameter> &parameters);
  SymValue unknownOf(const KernelParameter &parameter);
  static void forEachLeaf(const std::string &name, const KernelParameter &parameter,
                          llvm::function_ref<void(const std::string &, const KernelParameter &)> visit);
  void rememberLeaves(const std::string &name, const SymValue &value);
  std::optional<std::pair<SourceRange, std::string>> tupleHint(const SymValue &value);
  static std::vector<KernelArgument> argumentsOf(const std::string &name, const KernelParameter &parameter);
  SymValue parameterValue(const KernelParameter &parameter, mlir::ValueRange arguments, SourceRange range);

  std::map<std::string, SymValue> tupleLeaves; // elements of tuple parameters by name
  std::map<std::string, SourceRange> argumentRanges;
  /// Type or value by parameter, from the instance directive and --signature.
  std::map<std::string, std::pair<std::string, SourceRange>> specifications;

private:
  std::optional<SymValue> constantOnly(const SymValue &value, const std::string &what, SourceRange range);
  std::optional<KernelParameter> fromValue(const SymValue &value, SourceRange range);
  SymValue evaluateType(const Expr &expr);
  std::optional<KernelParameter> fromAnnotation(const Expr &annotation);
  std::optional<KernelParameter> parseSpecification(const std::string &text, SourceRange range);
  void collectSignature(const FunctionStmt &kernel, const InstanceDirective *instance);
  std::optional<KernelParameter> resolveParameter(const Parameter &parameter);
  bool applyAssumption(const std::string &name, SourceRange range, KernelParameter &resolved);
  static bool assumeNothing(const FunctionStmt &kernel, ResolvedParameters &resolved,
                            std::vector<KernelParameter> &parameters);
  /// Returns names such as args_0 and args_shape.
  static std::string elementName(const std::string &name, size_t index, const std::vector<std::string> &fields);
  /// Splits at commas outside brackets and quotes.
  static llvm::SmallVector<std::string> splitTopLevel(llvm::StringRef text);
  const ClassStmt *recordOf(const Expr *annotation);
  bool isTupleText(llvm::StringRef text);
  bool isTupleAnnotation(const Expr &annotation);
  std::optional<KernelParameter> elementFromDefinition(const std::string &name);
  void addMissingElement(const std::string &name, bool isConstexpr);
  std::optional<KernelParameter> elementFromText(const std::string &name, llvm::StringRef text, const Expr *annotation,
                                                 SourceRange range);
  std::optional<KernelParameter> tupleFromText(const std::string &name, llvm::StringRef text, const ClassStmt *record,
                                               SourceRange range);
  std::optional<KernelParameter> elementFromAnnotation(const std::string &name, const Expr &annotation);
  static SymValue tupleValue(const KernelParameter &parameter,
                             llvm::function_ref<SymValue(const KernelParameter &)> valueOf);
  mlir::Value unknownValue(DType type);
  std::optional<KernelParameter> parseDescriptor(llvm::StringRef text, SourceRange range);

  unsigned tupleDepth = 0;
  std::string missingElements; // missing elements of the parameter that is being resolved
};

} // namespace tile::frontend
