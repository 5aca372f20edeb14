// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs cases one after another in one process; a case that cannot run is reported and the others still do. Artifacts
// are loaded once.
//
// A benchmark without a GPU says so and runs, in the simulator, the cases that are small enough for it.
#pragma once

#include "Runner/Bench/Suite.h"

namespace tile::runner {

/// Prints a table (of one case without a name: its report), and returns 0 when all passed. Where the options ask for
/// it, what their file of measurements has is not measured again.
int runCases(RunOptions options, const std::vector<SuiteCase> &cases);

} // namespace tile::runner
