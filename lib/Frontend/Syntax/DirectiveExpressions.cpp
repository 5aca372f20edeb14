// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Syntax/DirectiveExpressions.h"

#include "Directives/Functions.h"
#include "Frontend/Syntax/Unparse.h"
#include "Frontend/Syntax/Walk.h"

#include <algorithm>
#include <cmath>

namespace tile::frontend {

namespace {

bool isIntegerOperator(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mult:
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
  case BinaryOp::Pow:
    return true;
  default:
    return false;
  }
}

/// Subtracts the number of nodes from `left`. Returns false if there are more, without expanding them: nested "#: let"
/// names can double an expression repeatedly.
bool isShort(const Expr &expr, size_t &left) {
  if (left == 0)
    return false;
  --left;
  bool result = true;
  const auto *call = as<CallExpr>(&expr);
  forEachChild(
      expr, [&](const Expr &child) { result = result && ((call && &child == call->callee) || isShort(child, left)); });
  return result;
}

bool reject(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect) {
  std::string allowed =
      std::string(dialect == DirectiveDialect::Integer ? "it takes names, integers, + - "
                                                       : "it takes buffers, numbers, @ + - ") +
      "* / // % **, comparisons, and, or, not, conditionals, " +
      (dialect == DirectiveDialect::Integer ? "cdiv, min, max, next_power_of_2" : "and the functions of the reference");
  diagnostics.report(Diag::directive_expression, expr.range, {"'" + unparse(expr).substr(0, 60) + "'", allowed});
  return false;
}

/// Reports numbers that no type can hold: a float has become infinite.
bool checkNumbers(DiagnosticEngine &diagnostics, const Expr &expr) {
  if (const auto *number = as<FloatExpr>(&expr); number && std::isinf(number->value)) {
    diagnostics.report(Diag::directive_number, expr.range, {std::string(diagnostics.text(expr.range)).substr(0, 60)});
    return false;
  }
  bool result = true;
  forEachChild(expr, [&](const Expr &child) { result = result && checkNumbers(diagnostics, child); });
  return result;
}

/// Returns true for an integer literal with an optional sign that can be the axis of a reduction.
bool isAxis(const Expr &expr) {
  const auto *sign = as<UnaryExpr>(&expr);
  const auto *axis = as<IntExpr>(sign && sign->op == UnaryOp::Minus ? sign->operand : &expr);
  return axis && axis->value <= directives::largestAxis;
}

/// Checks the number, the names and the kinds of the arguments of a call.
bool checkArguments(DiagnosticEngine &diagnostics, const CallExpr &call, const directives::FunctionForm &form,
                    DirectiveDialect dialect) {
  for (const Argument &argument : call.arguments) {
    if (argument.value->kind == ExprKind::Starred)
      return reject(diagnostics, *argument.value, dialect);
    const bool isAxisName = form.hasAxis && argument.name == "axis"; // last, as no other argument can follow
    if (!argument.name.empty() && !isAxisName) {
      diagnostics.report(
          Diag::directive_keyword, argument.nameRange,
          {std::string(form.name), argument.name, form.hasAxis ? "; only the last argument, 'axis', has a name" : ""});
      return false;
    }
  }
  const size_t count = call.arguments.size();
  if (count < form.fewest || count > form.most) {
    const std::string expected = std::to_string(form.fewest) + " argument" + (form.fewest == 1 ? "" : "s") +
                                 (form.most > form.fewest ? " or more" : "");
    diagnostics.report(Diag::directive_arguments, call.range,
                       {std::string(form.name), expected, std::to_string(count)});
    return false;
  }
  const bool isReduction = form.name == "sum" || form.name == "max" || form.name == "mean";
  if (dialect == DirectiveDialect::Tensor && isReduction && !isAxis(*call.arguments.back().value)) {
    diagnostics.report(Diag::directive_axis, call.arguments.back().value->range,
                       {std::string(form.name), std::to_string(directives::largestAxis)});
    return false;
  }
  if (form.name == "peers" && call.arguments.front().value->kind != ExprKind::Name) {
    diagnostics.report(Diag::directive_peers, call.arguments.front().value->range);
    return false;
  }
  return true;
}

/// Checks that the runtime can evaluate the expression.
bool check(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect) {
  if (dialect == DirectiveDialect::Value)
    return true;
  if (dialect == DirectiveDialect::Default)
    return checkNumbers(diagnostics, expr);
  bool isInteger = dialect == DirectiveDialect::Integer;
  switch (expr.kind) {
  case ExprKind::Name:
  case ExprKind::Int:
    return true;
  case ExprKind::Float:
    return isInteger ? reject(diagnostics, expr, dialect) : checkNumbers(diagnostics, expr);
  case ExprKind::Unary: {
    const auto &node = *as<UnaryExpr>(&expr);
    return node.op != UnaryOp::Invert ? check(diagnostics, *node.operand, dialect) : reject(diagnostics, expr, dialect);
  }
  case ExprKind::Binary: {
    const auto &node = *as<BinaryExpr>(&expr);
    bool isKnown = isIntegerOperator(node.op) || (!isInteger && node.op == BinaryOp::MatMult);
    const bool isDivision = node.op == BinaryOp::Div || node.op == BinaryOp::FloorDiv || node.op == BinaryOp::Mod;
    if (isInteger && isDivision && constantOf(*node.right) == std::optional<int64_t>(0)) {
      diagnostics.report(Diag::directive_zero, expr.range, {unparse(expr).substr(0, 60)});
      return false;
    }
    return isKnown ? check(diagnostics, *node.left, dialect) && check(diagnostics, *node.right, dialect)
                   : reject(diagnostics, expr, dialect);
  }
  case ExprKind::BoolOp: {
    const auto &node = *as<BoolOpExpr>(&expr);
    return std::all_of(node.values.begin(), node.values.end(),
                       [&](const Expr *value) { return check(diagnostics, *value, dialect); });
  }
  case ExprKind::Compare: {
    const auto &node = *as<CompareExpr>(&expr);
    bool isIdentity = node.op == CompareOp::Is || node.op == CompareOp::IsNot;
    return isIdentity ? reject(diagnostics, expr, dialect)
                      : check(diagnostics, *node.left, dialect) && check(diagnostics, *node.right, dialect);
  }
  case ExprKind::Conditional: {
    const auto &node = *as<ConditionalExpr>(&expr);
    return check(diagnostics, *node.condition, dialect) && check(diagnostics, *node.thenValue, dialect) &&
           check(diagnostics, *node.elseValue, dialect);
  }
  case ExprKind::Call: {
    const auto &node = *as<CallExpr>(&expr);
    const auto *name = as<NameExpr>(node.callee);
    const directives::FunctionForm *form = !name       ? nullptr
                                           : isInteger ? directives::find(directives::integerFunctions, name->id)
                                                       : directives::find(directives::tensorFunctions, name->id);
    if (!form)
      return reject(diagnostics, expr, dialect);
    return checkArguments(diagnostics, node, *form, dialect) &&
           std::all_of(node.arguments.begin(), node.arguments.end(),
                       [&](const Argument &argument) { return check(diagnostics, *argument.value, dialect); });
  }
  default:
    return reject(diagnostics, expr, dialect);
  }
}

} // namespace

std::optional<int64_t> constantOf(const Expr &expr) {
  if (const auto *integer = as<IntExpr>(&expr)) {
    const bool fits = integer->value >= INT32_MIN && integer->value <= INT32_MAX;
    return fits ? std::optional(static_cast<int64_t>(integer->value)) : std::nullopt;
  }
  if (const auto *node = as<UnaryExpr>(&expr)) {
    const std::optional<int64_t> value = constantOf(*node->operand);
    if (!value)
      return std::nullopt;
    return node->op == UnaryOp::Minus ? -*value : node->op == UnaryOp::Not ? !*value : *value;
  }
  if (const auto *node = as<BinaryExpr>(&expr)) {
    const std::optional<int64_t> left = constantOf(*node->left), right = constantOf(*node->right);
    int64_t value = 0;
    const bool fits = left && right &&
                      !(node->op == BinaryOp::Add    ? __builtin_add_overflow(*left, *right, &value)
                        : node->op == BinaryOp::Sub  ? __builtin_sub_overflow(*left, *right, &value)
                        : node->op == BinaryOp::Mult ? __builtin_mul_overflow(*left, *right, &value)
                                                     : true);
    return fits ? std::optional(value) : std::nullopt;
  }
  if (const auto *node = as<CompareExpr>(&expr)) {
    const std::optional<int64_t> left = constantOf(*node->left), right = constantOf(*node->right);
    if (!left || !right)
      return std::nullopt;
    switch (node->op) {
    case CompareOp::Eq:
      return *left == *right;
    case CompareOp::NotEq:
      return *left != *right;
    case CompareOp::Lt:
      return *left < *right;
    case CompareOp::LtE:
      return *left <= *right;
    case CompareOp::Gt:
      return *left > *right;
    case CompareOp::GtE:
      return *left >= *right;
    default:
      return std::nullopt;
    }
  }
  if (const auto *node = as<BoolOpExpr>(&expr)) {
    // One constant operand can determine the result.
    const bool isAnd = node->op == BoolOperator::And;
    bool isKnown = true;
    for (const Expr *part : node->values) {
      const std::optional<int64_t> value = constantOf(*part);
      if (value && (*value != 0) != isAnd)
        return !isAnd;
      isKnown &= value.has_value();
    }
    return isKnown ? std::optional<int64_t>(isAnd) : std::nullopt;
  }
  return std::nullopt;
}

directives::ExpressionTree treeOf(const Expr &expr) {
  using directives::ExpressionTree;
  const auto apply = [](std::string_view sign, std::initializer_list<const Expr *> operands) {
    ExpressionTree tree = ExpressionTree::apply(std::string(sign), {});
    for (const Expr *operand : operands)
      tree.operands.push_back(treeOf(*operand));
    return tree;
  };
  if (const auto *node = as<UnaryExpr>(&expr))
    return node->op == UnaryOp::Plus ? treeOf(*node->operand) : apply(spelling(node->op), {node->operand});
  if (const auto *node = as<BinaryExpr>(&expr))
    return apply(spelling(node->op), {node->left, node->right});
  if (const auto *node = as<CompareExpr>(&expr))
    return apply(spelling(node->op), {node->left, node->right});
  if (const auto *node = as<ConditionalExpr>(&expr))
    return apply("if", {node->condition, node->thenValue, node->elseValue});
  if (const auto *node = as<BoolOpExpr>(&expr)) {
    ExpressionTree left = treeOf(*node->values.front());
    for (auto value = node->values.begin() + 1; value != node->values.end(); ++value)
      left = ExpressionTree::apply(std::string(spelling(node->op)), {std::move(left), treeOf(**value)});
    return left;
  }
  if (const auto *node = as<CallExpr>(&expr)) {
    ExpressionTree call = ExpressionTree::call(as<NameExpr>(node->callee)->id, {});
    for (const Argument &argument : node->arguments)
      call.operands.push_back(treeOf(*argument.value));
    return call;
  }
  const auto *name = as<NameExpr>(&expr);
  return name ? ExpressionTree::name(name->id) : ExpressionTree{ExpressionTree::Kind::Number, unparse(expr)};
}

bool checkExpression(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect, SourceRange range) {
  const size_t most = dialect == DirectiveDialect::Tensor ? directives::mostTensorOperations : directives::mostNodes;
  if (size_t left = most; !isShort(expr, left)) {
    diagnostics.report(Diag::directive_length, range, {std::to_string(most)});
    return false;
  }
  return check(diagnostics, expr, dialect);
}

} // namespace tile::frontend
