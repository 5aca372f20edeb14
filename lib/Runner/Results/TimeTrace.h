// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the times recorded by a kernel compiled with --instrument to a timeline.
#pragma once

#include "Runner/Inputs/HostBuffer.h"
#include "Runtime/Manifest.h"

namespace tile::runner {

/// Returns trace events for Chrome and Perfetto ("Trace Event Format"), with a process for each CTA and a thread for
/// each warp.
std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times);

/// The times that one rank has recorded.
struct RankTimes {
  int rank = 0;
  const HostBuffer *times = nullptr;
};
/// Returns the events of several ranks. For each rank, one process has two rows. One shows when the rank computes, that
/// is, when at least one of its warps does not wait for a flag. The other shows when some of its warps wait for flags,
/// which other ranks set. The processes of the rank's CTAs follow.
std::string timeTrace(const runtime::Manifest &manifest, std::span<const RankTimes> ranks);

} // namespace tile::runner
