// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Validates grids of programs, and computes the number of thread blocks of a persistent kernel. Does not allocate.
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

/// Returns the number of thread blocks that share one program of a non-persistent kernel: the size of the cluster along
/// x, or 1 if each block has its own program.
int64_t blocksPerProgram(const LaunchInfo &launch);

/// Returns the reason why this grid of programs cannot be launched, if any.
GridFailure checkGrid(const LaunchInfo &launch, const int64_t grid[3]);

/// Appends "grid dimension 1 is 70000; expected 0 to 65535" to `text`.
void describe(const GridFailure &failure, const LaunchInfo &launch, const int64_t grid[3], fmt::memory_buffer &text);

/// Returns the maximum number of thread blocks of a persistent kernel: as many as the device holds, in whole clusters.
int64_t residentBlocks(const LaunchInfo &launch, int multiprocessors);

} // namespace tile::runtime
