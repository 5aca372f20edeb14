// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which expressions directives may have: those that the runtime can evaluate.
#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Diagnostics.h"

namespace tile::frontend {

/// Sizes, grids and conditions; expectations; anything that the compiler evaluates.
enum class DirectiveDialect { Integer, Tensor, Value };

/// Reports the first part that the dialect lacks; `range` is where the directive has the expression, whose names of
/// "#: let" may have brought it from elsewhere.
bool checkExpression(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect, SourceRange range);

} // namespace tile::frontend
