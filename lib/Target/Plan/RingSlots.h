// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many slots the rings between a producer warp and its consumers have.
//
//   wantedSlots(gpu, 3, {.consumerWarps = 8, ...})     // 6: no second CTA fits, its shared memory holds slots
//   planRingSlots(rings, freeBytes, 1)                 // {1, 4}: one slot of what is loaded once, four of the loop's
//
// cta-specialize-warps makes rings by these functions, and the cost model prices them.
#pragma once

#include "Target/GpuTarget.h"

#include <optional>
#include <vector>

namespace tile::target {

/// Stages of a kernel that does not say how many: Triton's default.
constexpr unsigned defaultStages = 3;

/// The resources of a CTA with a producer warp and MMA warps.
struct ProducerCta {
  unsigned consumerWarps;
  int64_t accumulatorRegisters; ///< of a consumer's thread
  int64_t sharedBytes;          ///< of a ring with as many slots as it has stages, and of other buffers
};

/// The slots that a ring for `stages` stages is to have. Up to the default leave room for a second
/// CTA that computes while this one waits. Where a multiprocessor has no room for one all the same, its part of the
/// shared memory holds slots.
unsigned wantedSlots(const GpuTarget &gpu, unsigned stages, const ProducerCta &cta);

struct RingPlan {
  int64_t slotBytes;
  unsigned wanted;     ///< slots
  bool isInnermost;    ///< in a loop, and no other ring is in a deeper one
  bool shares = false; ///< goes on with the slots of another ring, and takes no memory
};

/// Slots of each ring, none of those that share another's, or nothing if `freeBytes` do not hold the least: one of
/// each, `least` of the innermost. The innermost are filled most often, and take the remainder in turn.
std::optional<std::vector<unsigned>> planRingSlots(const std::vector<RingPlan> &rings, int64_t freeBytes,
                                                   unsigned least);

/// The bytes of a ring whose slots have so many each, with the two barriers of a slot: full and empty.
int64_t ringBytes(int64_t slotBytes, int64_t slots);

} // namespace tile::target
