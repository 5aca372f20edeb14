// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the times recorded by a kernel compiled with --instrument to a timeline.
#pragma once

#include "Runner/Inputs/HostBuffer.h"
#include "Runtime/Manifest.h"

namespace tile::runner {

/// Returns trace events for Chrome and Perfetto ("Trace Event Format"): a process for each CTA, a thread for each warp.
std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times);

/// The times that a rank has recorded.
struct RankTimes {
  int rank = 0;
  const HostBuffer *times = nullptr;
};
/// Returns the events of several ranks. A process for each rank shows when it computes, that is, has a warp that does
/// not wait for a flag, and when it has warps that wait for flags: for other ranks. The processes of its CTAs follow.
std::string timeTrace(const runtime::Manifest &manifest, std::span<const RankTimes> ranks);

} // namespace tile::runner
