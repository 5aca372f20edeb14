// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates expressions: folds known values and emits operations on run-time values.

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Evaluator : Part {
public:
  using Part::Part;
  SymValue attributeOf(const SymValue &value, const AttributeExpr &expr);
  std::string valuesIn(const Expr &condition);
  std::string messageText(const Expr &message);
  std::optional<SymValue> staticAssert(const CallExpr &call);
  std::optional<SymValue> evaluateQuietly(const Expr &expr);
  std::optional<SymValue> typeOf(const SymValue &value);
  SymValue typeOfTuple(const std::vector<SymValue> &types, SourceRange range);
  bool hasAttribute(const SymValue &value, const std::string &name);
  /// Returns the items of a loop or a comprehension: elements of a tuple, keys of a dictionary, constants of a range.
  std::optional<std::vector<SymValue>> itemsOf(const Expr &iterable);
  bool changeList(const Expr &expr);
  void assignItem(const SubscriptExpr &target, const SymValue &value);
  SymValue evaluate(const Expr &expr);
  SymValue fromResult(const EvalResult &result, SourceRange range);
  SymValue applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  SymValue evaluateBinary(const BinaryExpr &expr);
  SymValue condition(const SymValue &value, SourceRange range);
  SymValue joinRegions(mlir::scf::IfOp skeleton, const SymValue &thenValue, const SymValue &elseValue);

private:
  SymValue attributeOfTensor(const SymValue &value, const AttributeExpr &expr);
  SymValue attributeOfType(DType type, const AttributeExpr &expr);
  SymValue evaluateSubscript(const SubscriptExpr &expr);
  SymValue indexTensor(const SymValue &value, const SubscriptExpr &expr);
  SymValue indexText(const std::string &text, const SubscriptExpr &expr);
  SymValue indexTuple(const SymValue &value, const SubscriptExpr &expr);
  std::optional<std::pair<SourceRange, std::string>> originOf(const Expr &expr, const SymValue &value);
  SymValue evaluateComprehension(const ComprehensionExpr &expr);
  bool evaluateClauses(const ComprehensionExpr &expr, size_t clause, std::vector<SymValue> &results);
  std::optional<bool> truthOfClause(const Expr &condition);
  SymValue evaluateLambda(const LambdaExpr &expr);
  SymValue evaluateDictionary(const DictExpr &expr);
  SymValue lookupKey(const SymValue &dictionary, const SubscriptExpr &expr);
  SymValue contains(const SymValue &item, const SymValue &items, const CompareExpr &expr);
  SymValue evaluateKind(const Expr &expr);
  SymValue evaluateName(const NameExpr &expr);
  SymValue evaluateElements(const std::vector<const Expr *> &elements);
  std::optional<SymValue> containerOperator(BinaryOp op, const SymValue &left, const SymValue &right,
                                            SourceRange range);
  SymValue evaluateUnary(const UnaryExpr &expr);
  SymValue evaluateBoolOp(const BoolOpExpr &expr);
  SymValue structuresEqual(const SymValue &left, const SymValue &right, SourceRange range);
  SymValue evaluateCompare(const CompareExpr &expr);
  SymValue evaluateConditional(const ConditionalExpr &expr);
  SymValue evaluateFString(const FStringExpr &expr);
  std::optional<SymValue> formatText(const SymValue &pattern, const SymValue &values, SourceRange range);

  std::map<const LambdaExpr *, const FunctionStmt *> lambdas;
};

} // namespace tile::frontend
