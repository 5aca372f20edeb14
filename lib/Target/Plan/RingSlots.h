// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the number of slots of the rings between a producer warp and its consumers.
//
//   chooseSlots(gpu, 3, {.consumerWarps = 8, ...})     // 6: no second CTA fits, so slots take its shared memory
//   planRingSlots(rings, freeBytes, 1)                 // {1, 4}: four slots for the loop's data
//
// cta-specialize-warps creates rings with these functions, and the cost model counts the slots.
#pragma once

#include "Target/GpuTarget.h"

#include <optional>
#include <vector>

namespace tile::target {

/// The number of stages of a kernel that does not specify it: Triton's default.
constexpr unsigned defaultStages = 3;

/// The resources of a CTA with a producer warp and MMA warps.
struct ProducerCta {
  unsigned consumerWarps;
  int64_t accumulatorRegisters; ///< per thread of a consumer
  int64_t sharedBytes;          ///< of a ring with one slot per stage, and of other buffers
};

/// Returns the number of slots that a ring for `stages` stages should have. With at most the default number of stages,
/// a second CTA usually fits, which computes while this CTA waits. If no second CTA fits on the multiprocessor anyway,
/// additional slots take the shared memory that it would have used.
unsigned chooseSlots(const GpuTarget &gpu, unsigned stages, const ProducerCta &cta);

struct RingPlan {
  int64_t slotBytes;
  unsigned wanted;     ///< number of slots
  bool isInnermost;    ///< in a loop, and no other ring is in a deeper loop
  bool shares = false; ///< continues in the slots of another ring, and takes no memory
};

/// Returns the number of slots of each ring; 0 for a ring that shares the slots of another one. Returns nullopt if
/// `freeBytes` bytes do not hold the minimum: one slot for each ring, and `least` slots for each innermost ring. The
/// innermost rings are filled most often, so they take turns in getting slots from the remaining bytes.
std::optional<std::vector<unsigned>> planRingSlots(const std::vector<RingPlan> &rings, int64_t freeBytes,
                                                   unsigned least);

/// Returns the size in bytes of a ring, including the two barriers of each slot (full and empty).
int64_t ringBytes(int64_t slotBytes, int64_t slots);

} // namespace tile::target
