// The command line of tile-run: finds the subcommand, parses its options and runs it.
#pragma once

#include <span>
#include <string>

namespace tile::runner {

/// Prints and returns the exit code. `words` begin with the program's name.
int runTool(std::span<const char *const> words, const std::string &version);

} // namespace tile::runner
