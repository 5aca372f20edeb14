// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids of programs: what can be launched, and how many thread blocks a persistent kernel gets. No heap.
#pragma once

#include "Runtime/Manifest.h"

#include <fmt/format.h>

namespace tile::runtime {

struct GridFailure {
  enum class Limit { None, Size, Cluster, Programs };
  Limit limit = Limit::None;
  int dimension = 0;

  explicit operator bool() const { return limit != Limit::None; }
};

/// Thread blocks that share a program of a kernel that is not persistent: a cluster of them along x, or 1.
int64_t blocksPerProgram(const LaunchInfo &launch);

/// What, if anything, keeps this grid of programs from being launched.
GridFailure checkGrid(const LaunchInfo &launch, const int64_t grid[3]);

/// "grid dimension 1 is 70000; possible are 0 to 65535", after what is in `text`.
void describe(const GridFailure &failure, const LaunchInfo &launch, const int64_t grid[3], fmt::memory_buffer &text);

/// Most thread blocks of a persistent kernel: those that the device holds, in whole clusters.
int64_t residentBlocks(const LaunchInfo &launch, int multiprocessors);

} // namespace tile::runtime
