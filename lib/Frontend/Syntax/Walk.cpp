// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Syntax/Walk.h"

#include <algorithm>

namespace tile::frontend {

void forEachChild(const Expr &expr, const std::function<void(const Expr &)> &visit) {
  auto all = [&](const auto &children) {
    for (const Expr *child : children)
      if (child)
        visit(*child);
  };
  if (const auto *node = as<UnaryExpr>(&expr))
    all(std::array{node->operand});
  else if (const auto *node = as<BinaryExpr>(&expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<CompareExpr>(&expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<ConditionalExpr>(&expr))
    all(std::array{node->condition, node->thenValue, node->elseValue});
  else if (const auto *node = as<BoolOpExpr>(&expr))
    all(node->values);
  else if (const auto *node = as<TupleExpr>(&expr))
    all(node->elements);
  else if (const auto *node = as<ListExpr>(&expr))
    all(node->elements);
  else if (const auto *node = as<DictExpr>(&expr))
    all(node->keys), all(node->values);
  else if (const auto *node = as<LambdaExpr>(&expr))
    all(std::array{node->body});
  else if (const auto *node = as<ComprehensionExpr>(&expr)) {
    all(std::array{node->element});
    for (const ComprehensionExpr::Clause &clause : node->clauses)
      all(std::array{clause.iterable}), all(clause.conditions);
  } else if (const auto *node = as<FStringExpr>(&expr)) {
    for (const FStringPart &part : node->parts)
      all(std::array{part.value});
  } else if (const auto *node = as<StarredExpr>(&expr))
    all(std::array{node->value});
  else if (const auto *node = as<AttributeExpr>(&expr))
    all(std::array{node->value});
  else if (const auto *node = as<SubscriptExpr>(&expr))
    all(std::array{node->value, node->index});
  else if (const auto *node = as<SliceExpr>(&expr))
    all(std::array{node->lower, node->upper, node->step});
  else if (const auto *node = as<CallExpr>(&expr)) {
    all(std::array{node->callee});
    for (const Argument &argument : node->arguments)
      all(std::array{argument.value});
  }
}

std::vector<const Block *> blocksOf(const Stmt &stmt) {
  if (const auto *node = as<ForStmt>(&stmt))
    return {&node->body};
  if (const auto *node = as<WhileStmt>(&stmt))
    return {&node->body};
  if (const auto *node = as<WithStmt>(&stmt))
    return {&node->body};
  std::vector<const Block *> blocks;
  if (const auto *node = as<IfStmt>(&stmt)) {
    for (const IfStmt::Branch &branch : node->branches)
      blocks.push_back(&branch.body);
    blocks.push_back(&node->elseBody);
  }
  return blocks;
}

bool anyStatement(const Block &block, const std::function<bool(const Stmt &)> &predicate) {
  return std::any_of(block.begin(), block.end(), [&](const Stmt *stmt) {
    if (predicate(*stmt))
      return true;
    std::vector<const Block *> blocks = blocksOf(*stmt);
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const Block *inner) { return anyStatement(*inner, predicate); });
  });
}

} // namespace tile::frontend
