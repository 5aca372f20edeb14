// Which names a piece of the syntax tree mentions: to tell kernels from the helpers that they call, and statements that
// depend on others from those that do not.
#pragma once

#include "Frontend/Ast.h"

#include <set>

namespace tile::frontend {

/// Appends the names that are read; what is assigned is not among them.
void collectNames(const Block &block, std::set<std::string> &names);
void collectNames(const Expr *expr, std::set<std::string> &names);

/// The list that "items.append(x)" or "items.extend(x)" changes; null if it is no such call.
const NameExpr *changedList(const Expr &expr);

} // namespace tile::frontend
