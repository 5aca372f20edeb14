// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output stream for tilec's messages.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Runner/Colours.h"

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// Returns the colours that the environment requests.
runner::Colours colours();

/// Returns a line-buffered stream to standard error, which uses colours if standard error is a terminal that supports
/// them.
llvm::raw_ostream &messages();

/// Prints an error without a source location in the chosen format. Returns the exit code.
int fail(const driver::CompilerOptions &options, driver::Outcome outcome, const llvm::Twine &message);

} // namespace tile
