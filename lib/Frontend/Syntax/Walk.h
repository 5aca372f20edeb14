// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the syntax tree: the parts of an expression, and the blocks inside a statement.
#pragma once

#include "Frontend/Syntax/Ast.h"

#include <functional>

namespace tile::frontend {

/// Visits the direct parts of an expression, from left to right.
void forEachChild(const Expr &expr, const std::function<void(const Expr &)> &visit);

/// Returns the bodies of branches, loops and 'with'.
std::vector<const Block *> blocksOf(const Stmt &stmt);

/// Returns true if a statement of the block, or one nested in it, satisfies the predicate.
bool anyStatement(const Block &block, const std::function<bool(const Stmt &)> &predicate);

} // namespace tile::frontend
