// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assertions, and the values that their messages mention:
//
//   tl.static_assert(BLOCK % 32 == 0, "whole warps")      static assertion failed: whole warps (BLOCK is 48)
//   desc.load([0, 0])                                      None has no attribute 'load';
//                                                          note: 'desc' is None since here

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Walk.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Collects the parts of a condition that have values: names, attributes and elements.
void collectOperands(const Expr &expr, std::vector<const Expr *> &operands) {
  if (expr.kind == ExprKind::Name || expr.kind == ExprKind::Attribute || expr.kind == ExprKind::Subscript)
    return operands.push_back(&expr);
  const auto *call = as<CallExpr>(&expr);
  forEachChild(expr, [&](const Expr &child) {
    if (!call || &child != call->callee)
      collectOperands(child, operands);
  });
}

/// Returns the argument at an index, or with a name.
const Expr *argumentOf(const CallExpr &call, size_t index, std::string_view name) {
  for (auto [place, argument] : llvm::enumerate(call.arguments))
    if (argument.name == name || (argument.name.empty() && place == index))
      return argument.value;
  return nullptr;
}

} // namespace

/// Formats " (BLOCK is 48, x.dtype is fp16)" for the constants in a condition; empty if there are none.
std::string Evaluator::valuesIn(const Expr &condition) {
  constexpr size_t most = 6, longest = 80;
  std::vector<const Expr *> operands;
  collectOperands(condition, operands);
  std::set<std::string> seen;
  std::string text;
  for (const Expr *operand : operands) {
    std::string name = unparse(*operand);
    if (!seen.insert(name).second || seen.size() > most)
      continue;
    std::optional<SymValue> value = evaluateQuietly(*operand);
    // tl.float32 is self-explanatory.
    const auto *member = as<AttributeExpr>(operand);
    std::optional<SymValue> base = member ? evaluateQuietly(*member->value) : std::nullopt;
    if (base && base->isConstant() && std::holds_alternative<NamespaceValue>(base->constant))
      continue;
    bool isShown = value && (value->isTuple() || value->isConstant());
    if (isShown && value->isConstant())
      isShown = !std::holds_alternative<NamespaceValue>(value->constant) &&
                !std::holds_alternative<const FunctionStmt *>(value->constant) &&
                !std::holds_alternative<const BuiltinInfo *>(value->constant);
    std::string shown = !isShown ? "" : value->isConstant() ? repr(value->constant) : printed(*value);
    if (isShown && shown != name && shown.size() <= longest)
      text += (text.empty() ? " (" : ", ") + name + " is " + shown;
  }
  return text.empty() ? text : text + ")";
}

/// Returns the message of an assertion as text, in which run-time values appear as they are written in the source.
std::string Evaluator::messageText(const Expr &message) {
  ++sema.session.messageDepth;
  std::optional<SymValue> value = evaluateQuietly(message);
  --sema.session.messageDepth;
  return value && value->isConstant() ? str(value->constant) : unparse(message);
}

/// Evaluates tl.static_assert(cond, msg). As in Triton, the message is only evaluated if the condition does not hold.
/// Returns nullopt for invalid calls, about which the code for ordinary calls reports an error.
std::optional<SymValue> Evaluator::staticAssert(const CallExpr &call) {
  const Expr *condition = argumentOf(call, 0, "cond"), *message = argumentOf(call, 1, "msg");
  if (!condition || call.arguments.size() > 2 || (call.arguments.size() == 2 && !message))
    return std::nullopt;
  SymValue value = evaluate(*condition);
  if (value.isError())
    return SymValue();
  std::optional<bool> holds = truthOf(value);
  if (!holds)
    return std::nullopt;
  if (*holds)
    return SymValue::makeConstant(NoneValue{});
  std::string text = message ? messageText(*message) : "";
  return error(Diag::static_assert_failed, call.range,
               {"static assertion failed" + (text.empty() ? "" : ": " + text) + valuesIn(*condition)});
}

/// Returns a note that says where the name was set to None; nullopt for other values, which need no explanation.
std::optional<std::pair<SourceRange, std::string>> Evaluator::originOf(const Expr &expr, const SymValue &value) {
  if (!value.isNoneValue())
    return std::nullopt;
  if (const auto *name = as<NameExpr>(&expr)) {
    if (auto known = scope.find(name->id); known != scope.end())
      return std::pair{known->second.defined, "'" + name->id + "' is None since here"};
    if (auto global = sema.names.current->expressions.find(name->id); global != sema.names.current->expressions.end())
      return std::pair{global->second->range, "'" + name->id + "' is None since here"};
  }
  const auto *call = as<CallExpr>(&expr);
  std::optional<SymValue> callee = call ? evaluateQuietly(*call->callee) : std::nullopt;
  const auto *function =
      callee && callee->isConstant() ? std::get_if<const FunctionStmt *>(&callee->constant) : nullptr;
  if (function)
    return std::pair{(*function)->nameRange, "'" + (*function)->name + "' returns None"};
  return std::nullopt;
}

} // namespace tile::frontend
