// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the names that a part of the syntax tree mentions and assigns: to distinguish kernels from the helpers that
// they call, to find dependences of statements, and to determine the names that a loop carries.
#pragma once

#include "Frontend/Syntax/Ast.h"

#include <set>
#include <string>
#include <vector>

namespace tile::frontend {

/// Appends the names that are read, but not those that are assigned.
void collectNames(const Block &block, std::set<std::string> &names);
void collectNames(const Expr *expr, std::set<std::string> &names);

bool mentions(const Expr *expr, const std::string &name);

/// Returns the names that the block assigns, in alphabetical order.
std::vector<std::string> assignedNames(const Block &block);

/// The first use of a name on some path through a block.
enum class FirstUse { None, Read, Assigned };
FirstUse firstUse(const Block &block, const std::string &name);

/// Returns true if a method can be launched: a @triton.jit function without 'self'.
bool isKernelOfClass(const FunctionStmt &method);

/// Returns the container of "items[i]" or "items[i][j]"; null if it is not a name.
const NameExpr *containerOf(const Expr &expr);
/// Returns true if a method of lists or dictionaries modifies its receiver.
bool isChangingMethod(std::string_view name);
/// Returns the list or dictionary that "items.append(x)" modifies; null for any other call.
const NameExpr *changedList(const Expr &expr);
/// Returns the container that a statement modifies: a call, or "items[i] = x".
const NameExpr *changedBy(const Stmt &stmt);

} // namespace tile::frontend
