// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranks of a run with their buffers, ready to run: for Ranks.cpp (simulated) and GpuRanks.cpp.
#pragma once

#include "Runner/Ranks.h"

namespace tile::runner {

/// A rank with its buffers. Refers to itself.
struct PreparedRank {
  RunOptions options;
  Manifest manifest;
  std::unique_ptr<Execution> execution;
  RunReport report;
};
using PreparedRanks = std::vector<std::unique_ptr<PreparedRank>>;

/// Prepares ranks for a device that has loaded the variant of the kernel. `only`: the rank that runs on the device;
/// others are null unless its expectations need their buffers. None: all.
Result<PreparedRanks> prepareRanks(const RunOptions &options, const runtime::Artifact &artifact,
                                   const Manifest &variant, Device &device, int size, std::optional<int> only = {});

/// Runs all ranks on GPUs, with a thread for each rank of this process, and returns these. Their devices are gone.
Result<PreparedRanks> runOnGpus(const RunOptions &options, const runtime::Artifact &artifact, const RankPlan &plan);

} // namespace tile::runner
