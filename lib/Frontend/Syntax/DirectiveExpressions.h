// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that directives only contain expressions that the runtime can evaluate, and converts them to its trees.
#pragma once

#include "Directives/ExpressionTree.h"
#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Diagnostics.h"

namespace tile::frontend {

/// The operators and operands that an expression may contain. Integer is for sizes, grids and conditions, Tensor for
/// expectations, Default for values of parameters and contents of buffers, which are checked when the parameters are
/// known, and Value for anything that the compiler evaluates.
enum class DirectiveDialect { Integer, Tensor, Default, Value };

/// Reports the first part that the dialect does not support. `range` is the location of the expression in the
/// directive, because "#: let" names may insert parts from elsewhere.
bool checkExpression(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect, SourceRange range);

/// Returns the value of an integer expression that does not depend on names; a condition has the value 0 or 1.
std::optional<int64_t> constantOf(const Expr &expr);

/// Returns an integer expression as the runtime knows it.
directives::ExpressionTree treeOf(const Expr &expr);

} // namespace tile::frontend
