// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines of subcommands that take the compiler's options in addition to their own.
#pragma once

#include "Options.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace tile {

/// Parses the compiler's options into `line`, and all other words with `app`, which has the name of the command.
/// Returns the exit code if the command ends here, after --help or an error; otherwise nullopt.
std::optional<int> parseWords(llvm::ArrayRef<const char *> words, CLI::App &app, CommandLine &line);

/// Rejects options that name an output, for a command that writes none. Returns an exit code then.
std::optional<int> refuseOutputs(const CommandLine &line, const char *command);

/// Reads the source that `line` names into `line`. Returns an exit code on failure.
std::optional<int> readInput(CommandLine &line);

/// Returns the kernels with launch directives if the file has several and none is selected. Otherwise returns one empty
/// name, for which the front end chooses the kernel.
std::vector<std::string> listSelectedKernels(const CommandLine &line);

} // namespace tile
