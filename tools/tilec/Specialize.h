// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Specializes a kernel for the arguments of a launch.
#pragma once

#include "Options.h"
#include "Runner/Options.h"

#include <optional>

namespace tile {

/// Specializes the compilation for the launch's integers: assumes the powers of two that divide them (up to 16, which
/// wide accesses need), and chooses open parameters for their values. Explicit options take precedence. On failure,
/// prints an error and returns an exit code.
std::optional<int> specialize(const runner::RunOptions &run, CommandLine &line);

} // namespace tile
