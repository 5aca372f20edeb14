// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where tilec's messages go.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Runner/Colours.h"

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// As the environment says.
runner::Colours colours();

/// Standard error, line by line, in colours where it is a terminal that wants them.
llvm::raw_ostream &messages();

/// Prints an error that is about no place of the source, in the chosen format. Returns the exit code.
int fail(const driver::CompilerOptions &options, driver::Outcome outcome, const llvm::Twine &message);

} // namespace tile
