// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names in expressions and blocks.

#include "Frontend/Names.h"

namespace tile::frontend {

void collectNames(const Block &block, std::set<std::string> &names) {
  for (const Stmt *stmt : block) {
    if (const auto *node = as<ExprStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AugAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AnnAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<ReturnStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<ForStmt>(stmt))
      collectNames(node->iterator, names), collectNames(node->body, names);
    else if (const auto *node = as<WhileStmt>(stmt))
      collectNames(node->condition, names), collectNames(node->body, names);
    else if (const auto *node = as<WithStmt>(stmt))
      collectNames(node->body, names);
    else if (const auto *node = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : node->branches)
        collectNames(branch.condition, names), collectNames(branch.body, names);
      collectNames(node->elseBody, names);
    }
  }
}

void collectNames(const Expr *expr, std::set<std::string> &names) {
  if (!expr)
    return;
  auto all = [&](const auto &list) {
    for (const Expr *child : list)
      collectNames(child, names);
  };
  if (const auto *node = as<NameExpr>(expr))
    names.insert(node->id);
  else if (const auto *node = as<UnaryExpr>(expr))
    all(std::array{node->operand});
  else if (const auto *node = as<BinaryExpr>(expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<CompareExpr>(expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<ConditionalExpr>(expr))
    all(std::array{node->condition, node->thenValue, node->elseValue});
  else if (const auto *node = as<BoolOpExpr>(expr))
    all(node->values);
  else if (const auto *node = as<TupleExpr>(expr))
    all(node->elements);
  else if (const auto *node = as<ListExpr>(expr))
    all(node->elements);
  else if (const auto *node = as<DictExpr>(expr))
    all(node->keys), all(node->values);
  else if (const auto *node = as<LambdaExpr>(expr))
    all(std::array{node->body});
  else if (const auto *node = as<ComprehensionExpr>(expr)) {
    collectNames(node->element, names);
    for (const ComprehensionExpr::Clause &clause : node->clauses)
      collectNames(clause.iterable, names), all(clause.conditions);
  } else if (const auto *node = as<FStringExpr>(expr)) {
    for (const FStringPart &part : node->parts)
      collectNames(part.value, names);
  } else if (const auto *node = as<StarredExpr>(expr))
    all(std::array{node->value});
  else if (const auto *node = as<AttributeExpr>(expr))
    all(std::array{node->value});
  else if (const auto *node = as<SubscriptExpr>(expr))
    all(std::array{node->value, node->index});
  else if (const auto *node = as<CallExpr>(expr)) {
    collectNames(node->callee, names);
    for (const Argument &argument : node->arguments)
      collectNames(argument.value, names);
  }
}

const NameExpr *containerOf(const Expr &expr) {
  const Expr *container = &expr;
  while (const auto *subscript = as<SubscriptExpr>(container))
    container = subscript->value;
  return as<NameExpr>(container);
}

bool isChangingMethod(std::string_view name) {
  for (std::string_view method : {"append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear", "update",
                                  "setdefault", "popitem", "add", "discard"})
    if (name == method)
      return true;
  return false;
}

const NameExpr *changedList(const Expr &expr) {
  const auto *call = as<CallExpr>(&expr);
  const auto *method = call ? as<AttributeExpr>(call->callee) : nullptr;
  return method && isChangingMethod(method->attribute) ? as<NameExpr>(method->value) : nullptr;
}

const NameExpr *changedBy(const Stmt &stmt) {
  if (const auto *expression = as<ExprStmt>(&stmt))
    return changedList(*expression->value);
  const auto *assignment = as<AssignStmt>(&stmt);
  return assignment && assignment->target->kind == ExprKind::Subscript ? containerOf(*assignment->target) : nullptr;
}

} // namespace tile::frontend
