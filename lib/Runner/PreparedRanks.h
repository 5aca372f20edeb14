// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranks of a run with their buffers, ready for one device or several: for SimulatedRanks and GpuRanks.
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

/// Prepares all ranks for a device that has loaded the variant `taken` of the kernel.
Result<PreparedRanks> prepareRanks(const RunOptions &options, const runtime::Artifact &artifact,
                                   const Manifest &variant, Device &device, int size);

/// Runs all ranks on GPUs, with a thread for each rank of this process, and returns these. Their devices are gone.
Result<PreparedRanks> runOnGpus(const RunOptions &options, const runtime::Artifact &artifact, const RankPlan &plan);

} // namespace tile::runner
