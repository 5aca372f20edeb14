// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs cases one after another in one process. A case that cannot run is reported, and the other cases still run. Each
// artifact is loaded once.
//
// Without a GPU, a benchmark prints a note and runs only the cases that are small enough for the simulator.
#pragma once

#include "Lab/Bench/Suite.h"

namespace tile::runner {

/// Runs the cases and prints a table, or a report for a single unnamed case. Returns 0 if all passed. With --resume,
/// skips the measurements that are already in the output file.
int runCases(RunOptions options, const std::vector<SuiteCase> &cases);

} // namespace tile::runner
