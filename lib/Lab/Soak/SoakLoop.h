// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop of soaks of one kernel and of suites: launches, and checks each launch, until the time is over or a launch
// fails or hangs. In the simulator the last launch is aborted; if it is the only one, nothing was checked, which is an
// error.
//
// Memory in use between launches should not grow: the report contains the memory of the process, and of the GPU, at
// half time and at the end.
#pragma once

#include "Runner/Device/LoadedArtifacts.h"

namespace tile::runner {

struct SoakOptions {
  RunOptions run;
  double seconds = 60;
  double deadlineSeconds = 30; ///< after which a launch on a GPU is considered hung; the simulator counts instructions
};

/// The launches of a soak.
struct SoakSource {
  std::string what; ///< description for the report
  /// Returns the options of launch `number`, counted from 0.
  std::function<Result<RunOptions>(uint64_t number)> draw;
  size_t cases = 0; ///< number of suite cases, by whose labels launches are counted; 0: count by variant
};

/// Prints and returns the exit code. A hang ends the process.
int runSoakLoop(const SoakOptions &options, const SoakSource &source, LoadedArtifacts &artifacts);

} // namespace tile::runner
