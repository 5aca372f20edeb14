// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Repeats the cases of suites in random order, each time with new inputs.
//
//   $ tile-run soak --suite linear.suite --suite grouped.suite --artifacts build/bench --seconds=600
//   soak: 1250 launches in 600.2 s passed on cuda:0 NVIDIA H200; 21 cases of linear.suite, grouped.suite; ...
//     21 of 21 cases, 59 to 60 launches each
//
// All cases run once before any case runs again. The seed determines the order and the inputs.
#pragma once

#include "Lab/Bench/Suite.h"
#include "Lab/Soak/SoakLoop.h"

namespace tile::runner {

/// Returns the index of the case, among `count` cases, that launch `number` runs.
size_t drawCase(size_t count, uint64_t seed, uint64_t number);

/// Runs a soak of the suites in `files`, whose artifacts are in `folder`. Without a GPU, skips cases that are too large
/// for the simulator.
int runSuiteSoak(const SoakOptions &options, const std::vector<std::string> &files, const std::string &folder);

} // namespace tile::runner
