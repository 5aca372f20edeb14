// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the buffers in '#: expect' expressions. An output has no values before the launch, so only its shape can be
// used. The shapes are checked as far as the '#: buffer' directives determine them: the number of dimensions, and sizes
// that are constants. Tools check the other sizes when they know the arguments.
//
//   #: buffer x[N] = random
//   #: expect out == transpose(x)        error: transpose: the operand has shape [N]; expected at least 2 dimensions
#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Diagnostics.h"

#include <set>

namespace tile::frontend {

/// The names in an expectation. The shapes of other names are unknown.
struct ExpectedNames {
  std::map<std::string, const BufferDirective *> buffers;
  std::set<std::string> scalars;
};

/// Reports outputs whose values the expectation uses, or the first part whose shapes do not fit.
void checkExpectation(DiagnosticEngine &diagnostics, const ExpectDirective &directive, const ExpectedNames &names);

} // namespace tile::frontend
