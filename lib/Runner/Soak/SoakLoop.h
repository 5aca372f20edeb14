// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches, each checked, until the time is over or one fails or hangs: what soaks of one kernel and of suites share.
// The last launch in the simulator is cut off; if it is the only one, nothing was checked, which is an error.
//
// What is left over between launches should not grow: the report has the memory of the process, and of the GPU, at half
// time and at the end.
#pragma once

#include "Runner/Device/LoadedArtifacts.h"

namespace tile::runner {

struct SoakOptions {
  RunOptions run;
  double seconds = 60;
  double deadlineSeconds = 30; ///< after which a launch on a GPU hangs; the simulator counts instructions
};

/// What is launched.
struct SoakSource {
  std::string what; ///< for the report
  /// The options of launch `number`, from 0 on.
  std::function<Result<RunOptions>(uint64_t number)> draw;
  size_t cases = 0; ///< of suites, by whose labels launches are counted; 0: they are counted by variant
};

/// Prints and returns the exit code. A hang ends the process.
int runSoakLoop(const SoakOptions &options, const SoakSource &source, LoadedArtifacts &artifacts);

} // namespace tile::runner
