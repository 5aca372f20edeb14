// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many CTAs of a kernel run side by side on a multiprocessor.
#pragma once

#include "Target/GpuTarget.h"

#include <algorithm>

namespace tile::target {

/// As many as each resource of a multiprocessor holds (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
struct ResidentCtas {
  int64_t ofBlocks = 0, ofWarps = 0, ofRegisters = 0, ofShared = 0;

  int64_t least() const { return std::min({ofBlocks, ofWarps, ofRegisters, ofShared}); }
};

/// Of a thread: what products of warps take at most, as a rule.
inline constexpr int64_t registersOfWarpProducts = 168;

/// `registers` a thread, 0 if that is not known; `sharedBytes` a CTA, without what the driver takes.
ResidentCtas countResidentCtas(const GpuTarget &gpu, int64_t registers, int64_t threads, int64_t sharedBytes);

/// The resources of a CTA with a producer warp and MMA warps.
struct ProducerCta {
  unsigned consumerWarps;
  int64_t accumulatorRegisters; ///< Of a consumer's thread.
  int64_t sharedBytes;          ///< Of a ring with as many slots as it has stages, and of other buffers.
};

/// The slots that a ring for `stages` stages is to have. Up to Triton's default, three stages, leave room for a second
/// CTA that computes while this one waits. Where a multiprocessor has no room for one all the same, its part of the
/// shared memory holds slots.
unsigned countWantedSlots(const GpuTarget &gpu, unsigned stages, const ProducerCta &cta);

/// The registers that a thread may have where so many CTAs run side by side.
int64_t countRegistersFor(int64_t ctas, int64_t threads);

} // namespace tile::target
