// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks '#: default' directives: the contents of a buffer must be a list or a call of a fill function, and the value
// of a scalar must be an expression that tools can evaluate. Names in them are checked by `checkName`.
//
//   #: default x = randint(0)            error: 'randint(0)' does not fill buffer 'x'; expected randint(low, high) ...
#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Diagnostics.h"

#include <functional>

namespace tile::frontend {

using CheckName = std::function<void(const std::string &name, SourceRange range)>;

/// Checks the contents of a buffer. Only elements of type float can be inf or nan.
void checkFill(DiagnosticEngine &diagnostics, const DefaultDirective &directive, bool hasFloats,
               const CheckName &checkName);

} // namespace tile::frontend
