// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements RingSlots.h.
#include "Target/Plan/RingSlots.h"

#include "Target/Engines/Wgmma.h"
#include "Target/Limits.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/SharedMemory.h"
#include "Target/Tuned.h"

#include <algorithm>

namespace tile::target {

unsigned chooseSlots(const GpuTarget &gpu, unsigned stages, const ProducerCta &cta) {
  const Tuned &tuned = tunedOf(gpu);
  if (stages <= 1 || stages > defaultStages)
    return stages;
  // Several warp groups use all registers of a multiprocessor (setmaxnreg), so no second CTA fits.
  bool takesRegisters = cta.consumerWarps >= 2 * warpsPerGroup;
  int64_t threads = int64_t(cta.consumerWarps + countProducerWarps(/*setsRegisters=*/false)) * threadsPerWarp;
  takesRegisters |= 2 * threads * (cta.accumulatorRegisters + tuned.spareRegistersOfRing) > int64_t(registersPerSm);
  bool isAlone = takesRegisters || 2 * (cta.sharedBytes + reservedShared(gpu)) > int64_t(gpu.sharedPerSm);
  return isAlone ? 2 * stages : stages;
}

std::optional<std::vector<unsigned>> planRingSlots(const std::vector<RingPlan> &rings, int64_t freeBytes,
                                                   unsigned least) {
  std::vector<unsigned> slots;
  unsigned most = 1;
  for (const RingPlan &ring : rings) {
    slots.push_back(ring.shares ? 0 : 1);
    freeBytes -= ringBytes(ring.slotBytes, slots.back());
    most = std::max(most, ring.wanted);
  }
  for (unsigned stage = 1; stage < most; ++stage)
    for (size_t index = 0; index < rings.size(); ++index) {
      const RingPlan &ring = rings[index];
      int64_t bytes = ringBytes(ring.slotBytes, 1);
      if (ring.shares || !ring.isInnermost || stage >= ring.wanted || (stage >= least && bytes > freeBytes))
        continue;
      freeBytes -= bytes;
      ++slots[index];
    }
  return freeBytes < 0 ? std::nullopt : std::optional(slots);
}

int64_t ringBytes(int64_t slotBytes, int64_t slots) {
  return slots * (slotBytes + 2 * mbarrierBytes);
}

} // namespace tile::target
