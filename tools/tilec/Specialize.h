// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch's arguments say about how to compile its kernel.
#pragma once

#include "Options.h"
#include "Runner/Options.h"

#include <optional>

namespace tile {

/// The launch's integers are known, so the kernel is compiled for the powers of two (up to 16, what wide accesses need)
/// that divide them, and what it leaves open is chosen for them. What the user said stays. Returns an exit code on
/// failure, which has been explained.
std::optional<int> specialize(const runner::RunOptions &run, CommandLine &line);

} // namespace tile
