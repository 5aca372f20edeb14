// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines of subcommands that take the compiler's options in addition to their own.
#pragma once

#include "Options.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace tile {

/// Parses the compiler's options into `line` and all others by `app`, whose name is that of the command. Returns the
/// exit code if the command ends here: after --help, or with an error.
std::optional<int> parseWords(llvm::ArrayRef<const char *> words, CLI::App &app, CommandLine &line);

/// Reads the source that `line` names into it. Returns an exit code on failure.
std::optional<int> readInput(CommandLine &line);

/// Returns the kernels with launch directives of a file if there are several and none is selected; otherwise one empty
/// name, for which the front end chooses.
std::vector<std::string> listSelectedKernels(const CommandLine &line);

} // namespace tile
