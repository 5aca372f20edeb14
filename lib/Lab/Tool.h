// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of tile-run: finds the subcommand, parses its options and runs it.
#pragma once

#include "Lab/Commands/Commands.h"

#include <span>
#include <string>

namespace tile::runner {

/// Prints and returns the exit code. `words` starts with the program's name. `more`: subcommands of libraries that
/// depend on this one. `environment`: see RunOptions.
int runTool(std::span<const char *const> words, const std::string &version, Colours colours,
            std::span<const Subcommand> more, const char *(*environment)(void *, const char *name));

} // namespace tile::runner
