// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decorators that set compile-time parameters: @triton.autotune and @triton.heuristics.
//
// They are read, not executed. An autotuner's first configuration applies (SemaConfigs.cpp) to parameters that only
// have a default. A heuristic is evaluated if it follows from known facts: other constants, whether an argument is
// None, and its divisors. Undecided conditions are false, because heuristics of that kind (EVEN_K, ...) allow a faster
// path but never require it.

#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Tuner.h"

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

/// Evaluates a condition on the divisor of an argument: args["N"] % 16 == 0.
std::optional<bool> Tuner::divisibility(const Expr &condition, const std::string &arguments,
                                        const ResolvedParameters &parameters) {
  const auto *compare = as<CompareExpr>(&condition);
  const auto *remainder = compare && compare->op == CompareOp::Eq ? as<BinaryExpr>(compare->left) : nullptr;
  const auto *item = remainder && remainder->op == BinaryOp::Mod ? as<SubscriptExpr>(remainder->left) : nullptr;
  const auto *base = item ? as<NameExpr>(item->value) : nullptr;
  const auto *key = item ? as<StringExpr>(item->index) : nullptr;
  if (!base || base->id != arguments || !key)
    return std::nullopt;
  auto parameter = parameters.find(key->value);
  std::optional<SymValue> divisor = sema.evaluator.evaluateQuietly(*remainder->right);
  std::optional<Int128> number = divisor && divisor->isConstant() ? asInteger(divisor->constant) : std::nullopt;
  if (parameter == parameters.end() || !parameter->second || parameter->second->constant || !number || *number == 0)
    return std::nullopt;
  return parameter->second->divisibility % *number == 0;
}

void Tuner::applyHeuristics(const CallExpr &decorator, ResolvedParameters &parameters) {
  const Expr *argument = argumentOf(decorator, "values", 0);
  const auto *rules = argument ? as<DictExpr>(argument) : nullptr;
  if (!rules)
    return;
  InModule inside(sema, sema.names.current);
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
      // A run-time value: it is not None, but nothing else is known about it.
      arguments.names.push_back(known);
      arguments.elements.push_back(sema.signature.unknownOf(*parameter));
    }
    scope[rule->parameters[0]] = Binding{arguments, rule->range};
    std::optional<SymValue> value = sema.evaluator.evaluateQuietly(*rule->body);
    if (!value)
      if (std::optional<bool> divides = divisibility(*rule->body, rule->parameters[0], parameters))
        value = SymValue::makeConstant(*divides);
    // A comparison that cannot be decided counts as false.
    if (!value && rule->body->kind == ExprKind::Compare)
      value = SymValue::makeConstant(false);
    if (value)
      target->second.emplace().constant = *value;
  }
}

void Tuner::applyDecorators(const FunctionStmt &kernel, ResolvedParameters &parameters) {
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
