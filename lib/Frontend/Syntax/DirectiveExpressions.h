// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that directives only contain expressions that the runtime can evaluate.
#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Diagnostics.h"

namespace tile::frontend {

/// Integer: sizes, grids and conditions. Tensor: expectations. Value: anything that the compiler evaluates.
enum class DirectiveDialect { Integer, Tensor, Value };

/// Reports the first part that the dialect does not support. `range` is the location of the expression in the
/// directive, because "#: let" names may insert parts from elsewhere.
bool checkExpression(DiagnosticEngine &diagnostics, const Expr &expr, DirectiveDialect dialect, SourceRange range);

/// Returns the value of an integer expression without names: 0 or 1 for a condition.
std::optional<int64_t> constantOf(const Expr &expr);

} // namespace tile::frontend
