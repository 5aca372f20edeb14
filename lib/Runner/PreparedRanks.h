// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranks of a run with their buffers, ready to run. Used by Ranks.cpp (simulated ranks) and GpuRanks.cpp.
#pragma once

#include "Runner/Ranks.h"

namespace tile::runner {

/// A rank with its buffers. Members refer to each other, so it must not be moved.
struct PreparedRank {
  RunOptions options;
  Manifest manifest;
  std::unique_ptr<Execution> execution;
  RunReport report;
};
using PreparedRanks = std::vector<std::unique_ptr<PreparedRank>>;

/// Prepares ranks for a device that has loaded the kernel's variant. `only` is the rank that runs on the device; the
/// other ranks are null, unless the expectations of this rank need their buffers. If `only` is nullopt, prepares all
/// ranks.
Result<PreparedRanks> prepareRanks(const RunOptions &options, const runtime::Artifact &artifact,
                                   const Manifest &variant, Device &device, int size, std::optional<int> only = {});

/// Runs all ranks on GPUs, one thread for each rank of this process, and returns the ranks of this process. Their
/// devices have already been closed.
Result<PreparedRanks> runOnGpus(const RunOptions &options, const runtime::Artifact &artifact, const RankPlan &plan);

} // namespace tile::runner
