// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names a piece of the syntax tree mentions and assigns: to tell kernels from the helpers that they call,
// statements that depend on others from those that do not, and what a loop carries.
#pragma once

#include "Frontend/Syntax/Ast.h"

#include <set>
#include <string>
#include <vector>

namespace tile::frontend {

/// Appends the names that are read; what is assigned is not among them.
void collectNames(const Block &block, std::set<std::string> &names);
void collectNames(const Expr *expr, std::set<std::string> &names);

bool mentions(const Expr *expr, const std::string &name);

/// Names that the block assigns, in alphabetical order.
std::vector<std::string> assignedNames(const Block &block);

/// What a block does to a name first, on some path.
enum class FirstUse { None, Read, Assigned };
FirstUse firstUse(const Block &block, const std::string &name);

/// Whether a method can be launched: a @triton.jit function that takes no object.
bool isKernelOfClass(const FunctionStmt &method);

/// What "items[i]" or "items[i][j]" is an element of; null if that has no name.
const NameExpr *containerOf(const Expr &expr);
/// Whether a method of lists or dictionaries changes what it is called on.
bool isChangingMethod(std::string_view name);
/// The list or dictionary that "items.append(x)" changes; null for any other call.
const NameExpr *changedList(const Expr &expr);
/// The same of a statement: a call, or "items[i] = x".
const NameExpr *changedBy(const Stmt &stmt);

} // namespace tile::frontend
