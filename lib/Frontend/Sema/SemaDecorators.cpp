// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decorators that set compile-time parameters: @triton.autotune and @triton.heuristics.
//
// They are read, not executed. An autotuner's first configuration applies (SemaConfigs.cpp) to parameters that only
// have a default. A heuristic is evaluated if it follows from known facts: other constants, whether an argument is
// None, and its divisors. Undecided conditions are false, because heuristics of that kind (EVEN_K, ...) allow a faster
// path but never require it.

#include "Frontend/Sema/ModuleSema.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the last part of a dotted name.
StringRef lastName(const Expr &expr) {
  if (const auto *name = as<NameExpr>(&expr))
    return name->id;
  if (const auto *attribute = as<AttributeExpr>(&expr))
    return attribute->attribute;
  return {};
}

} // namespace

const Expr *argumentOf(const CallExpr &call, std::string_view name, size_t index) {
  size_t place = 0;
  for (const Argument &argument : call.arguments) {
    bool isPositional = argument.name.empty() && argument.value->kind != ExprKind::Starred;
    if (argument.name == name || (isPositional && place == index))
      return argument.value;
    ++place;
  }
  return nullptr;
}

/// Evaluates host code; nullopt, without a message, if the result is not a constant.
std::optional<SymValue> ModuleSema::evaluateQuietly(const Expr &expr) {
  size_t reported = diagnostics.all().size();
  ++quietDepth;
  SymValue value = evaluate(expr);
  --quietDepth;
  (void)diagnostics.takeSince(reported);
  SmallVector<mlir::Value> leaves;
  flatten(value, leaves);
  return value.isError() || !leaves.empty() ? std::nullopt : std::optional(value);
}

/// Evaluates a condition on the divisor of an argument: args["N"] % 16 == 0.
std::optional<bool> ModuleSema::divisibility(const Expr &condition, const std::string &arguments,
                                             const ResolvedParameters &parameters) {
  const auto *compare = as<CompareExpr>(&condition);
  const auto *remainder = compare && compare->op == CompareOp::Eq ? as<BinaryExpr>(compare->left) : nullptr;
  const auto *item = remainder && remainder->op == BinaryOp::Mod ? as<SubscriptExpr>(remainder->left) : nullptr;
  const auto *base = item ? as<NameExpr>(item->value) : nullptr;
  const auto *key = item ? as<StringExpr>(item->index) : nullptr;
  if (!base || base->id != arguments || !key)
    return std::nullopt;
  auto parameter = parameters.find(key->value);
  std::optional<SymValue> divisor = evaluateQuietly(*remainder->right);
  std::optional<Int128> number = divisor && divisor->isConstant() ? asInteger(divisor->constant) : std::nullopt;
  if (parameter == parameters.end() || !parameter->second || parameter->second->constant || !number || *number == 0)
    return std::nullopt;
  return parameter->second->divisibility % *number == 0;
}

void ModuleSema::applyHeuristics(const CallExpr &decorator, ResolvedParameters &parameters) {
  const Expr *argument = argumentOf(decorator, "values", 0);
  const auto *rules = argument ? as<DictExpr>(argument) : nullptr;
  if (!rules)
    return;
  InModule inside(*this, current);
  for (auto [key, expr] : llvm::zip(rules->keys, rules->values)) {
    const auto *name = as<StringExpr>(key);
    const auto *rule = as<LambdaExpr>(expr);
    auto target = name ? parameters.find(name->value) : parameters.end();
    if (target == parameters.end() || target->second || !rule || rule->parameters.size() != 1)
      continue;
    SymValue arguments;
    arguments.kind = SymValue::Kind::Arguments;
    for (const auto &[known, parameter] : parameters) {
      if (!parameter)
        continue;
      // A run-time value: not None, but otherwise unknown.
      arguments.names.push_back(known);
      arguments.elements.push_back(unknownOf(*parameter));
    }
    scope[rule->parameters[0]] = Binding{arguments, rule->range};
    std::optional<SymValue> value = evaluateQuietly(*rule->body);
    if (!value)
      if (std::optional<bool> divides = divisibility(*rule->body, rule->parameters[0], parameters))
        value = SymValue::makeConstant(*divides);
    // An undecided comparison.
    if (!value && rule->body->kind == ExprKind::Compare)
      value = SymValue::makeConstant(false);
    if (value)
      target->second.emplace().constant = *value;
  }
}

/// Represents an argument while heuristics are evaluated; operations emitted meanwhile are discarded.
mlir::Value ModuleSema::unknownValue(DType type) {
  return UnrealizedConversionCastOp::create(builder, UnknownLoc::get(&context), mlirType(type), ValueRange())
      .getResult(0);
}

void ModuleSema::applyDecorators(const FunctionStmt &kernel, ResolvedParameters &parameters) {
  ++hostDepth;
  // The innermost decorator is applied first.
  for (const Decorator &decorator : llvm::reverse(kernel.decorators)) {
    const auto *call = as<CallExpr>(decorator.hostValue ? decorator.hostValue : decorator.value);
    StringRef name = call ? lastName(*call->callee) : StringRef();
    if (name.ends_with("autotune"))
      applyAutotune(kernel, *call, parameters);
  }
  for (const Decorator &decorator : kernel.decorators) {
    const auto *call = as<CallExpr>(decorator.hostValue ? decorator.hostValue : decorator.value);
    if (call && lastName(*call->callee).ends_with("heuristics"))
      applyHeuristics(*call, parameters);
  }
  --hostDepth;
}

} // namespace tile::frontend
