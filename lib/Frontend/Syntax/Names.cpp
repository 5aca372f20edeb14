// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects names in expressions and blocks.

#include "Frontend/Syntax/Names.h"

#include "Frontend/Syntax/Walk.h"

namespace tile::frontend {

void collectNames(const Block &block, std::set<std::string> &names) {
  for (const Stmt *stmt : block) {
    if (const auto *node = as<ExprStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AssignStmt>(stmt)) {
      collectNames(node->value, names);
      // Assigning to a name does not read it, but assigning to an element or a field reads the container.
      if (node->target->kind == ExprKind::Subscript || node->target->kind == ExprKind::Attribute)
        collectNames(node->target, names);
    } else if (const auto *node = as<AugAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AnnAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<ReturnStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AssertStmt>(stmt))
      collectNames(node->condition, names), collectNames(node->message, names);
    else if (const auto *node = as<ForStmt>(stmt))
      collectNames(node->iterator, names);
    else if (const auto *node = as<WhileStmt>(stmt))
      collectNames(node->condition, names);
    else if (const auto *node = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : node->branches)
        collectNames(branch.condition, names);
    }
    for (const Block *inner : blocksOf(*stmt))
      collectNames(*inner, names);
  }
}

void collectNames(const Expr *expr, std::set<std::string> &names) {
  if (!expr)
    return;
  if (const auto *node = as<NameExpr>(expr))
    names.insert(node->id);
  forEachChild(*expr, [&](const Expr &child) { collectNames(&child, names); });
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

static void collectTargets(const Expr &target, std::set<std::string> &names) {
  if (const auto *name = as<NameExpr>(&target))
    names.insert(name->id);
  if (const auto *tuple = as<TupleExpr>(&target))
    for (const Expr *element : tuple->elements)
      collectTargets(*element, names);
  if (const auto *list = as<ListExpr>(&target))
    for (const Expr *element : list->elements)
      collectTargets(*element, names);
}

static void collectAssigned(const Block &block, std::set<std::string> &names) {
  for (const Stmt *stmt : block) {
    if (const NameExpr *changed = changedBy(*stmt))
      names.insert(changed->id);
    else if (const auto *assigned = as<AssignStmt>(stmt))
      collectTargets(*assigned->target, names);
    else if (const auto *augmented = as<AugAssignStmt>(stmt))
      names.insert(augmented->target->id);
    else if (const auto *annotated = as<AnnAssignStmt>(stmt))
      names.insert(annotated->target->id);
    else if (const auto *loop = as<ForStmt>(stmt))
      names.insert(loop->target->id);
    else if (const auto *with = as<WithStmt>(stmt))
      for (const WithStmt::Item &item : with->items)
        if (item.target)
          names.insert(item.target->id);
    for (const Block *inner : blocksOf(*stmt))
      collectAssigned(*inner, names);
  }
}

bool mentions(const Expr *expr, const std::string &name) {
  std::set<std::string> names;
  collectNames(expr, names);
  return names.contains(name);
}

bool isKernelOfClass(const FunctionStmt &method) {
  bool takesObject = !method.parameters.empty() &&
                     (method.parameters.front().name == "self" || method.parameters.front().name == "cls");
  return !method.isConstexpr && !takesObject;
}

std::vector<std::string> assignedNames(const Block &block) {
  std::set<std::string> names;
  collectAssigned(block, names);
  return {names.begin(), names.end()};
}

static FirstUse firstUse(const IfStmt &stmt, const std::string &name) {
  bool allAssign = !stmt.elseBody.empty();
  for (const IfStmt::Branch &branch : stmt.branches) {
    FirstUse use = mentions(branch.condition, name) ? FirstUse::Read : firstUse(branch.body, name);
    if (use == FirstUse::Read)
      return use;
    allAssign &= use == FirstUse::Assigned;
  }
  FirstUse otherwise = firstUse(stmt.elseBody, name);
  if (otherwise == FirstUse::Read)
    return otherwise;
  return allAssign && otherwise == FirstUse::Assigned ? FirstUse::Assigned : FirstUse::None;
}

FirstUse firstUse(const Block &block, const std::string &name) {
  for (const Stmt *stmt : block) {
    FirstUse use = FirstUse::None;
    if (const auto *branches = as<IfStmt>(stmt)) {
      use = firstUse(*branches, name);
    } else if (const auto *loop = as<ForStmt>(stmt)) {
      bool isTarget = loop->target->id == name;
      bool isRead = mentions(loop->iterator, name) || (!isTarget && firstUse(loop->body, name) == FirstUse::Read);
      use = isRead ? FirstUse::Read : FirstUse::None; // the body may not run
    } else if (const auto *loop = as<WhileStmt>(stmt)) {
      bool isRead = mentions(loop->condition, name) || firstUse(loop->body, name) == FirstUse::Read;
      use = isRead ? FirstUse::Read : FirstUse::None;
    } else {
      std::set<std::string> read, assigned;
      collectNames({stmt}, read);
      collectAssigned({stmt}, assigned);
      const auto *augmented = as<AugAssignStmt>(stmt);
      bool isRead = read.contains(name) || (augmented && augmented->target->id == name);
      use = isRead ? FirstUse::Read : assigned.contains(name) ? FirstUse::Assigned : FirstUse::None;
    }
    if (use != FirstUse::None)
      return use;
  }
  return FirstUse::None;
}

} // namespace tile::frontend
