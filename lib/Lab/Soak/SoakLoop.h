// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop of soak tests, for one kernel or for suites. It launches the kernel and checks each launch until the time
// limit expires or a launch fails or hangs. The last launch is aborted when the time limit expires; if it was the only
// launch, nothing was checked, which is an error.
//
// Memory in use between launches should not grow, so the report contains the memory used by the process and by the GPU,
// halfway through and at the end.
#pragma once

#include "Runner/Device/LoadedArtifacts.h"

namespace tile::runner {

struct SoakOptions {
  RunOptions run;
  double seconds = 60;
  /// Time after which a launch on a GPU counts as hung; the simulator limits instructions instead.
  double deadlineSeconds = 30;
};

/// The launches of a soak.
struct SoakSource {
  std::string what; ///< description for the report
  /// Returns the options of launch `number`; launches count from 0.
  std::function<Result<RunOptions>(uint64_t number)> draw;
  size_t cases = 0; ///< number of suite cases; the report then counts launches by case; 0: it counts them by variant
};

/// Runs the loop, prints the result and returns the exit code. If a launch hangs, the process ends.
int runSoakLoop(const SoakOptions &options, const SoakSource &source, LoadedArtifacts &artifacts);

} // namespace tile::runner
