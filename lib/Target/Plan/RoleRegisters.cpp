// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements RoleRegisters.h.
#include "Target/Plan/RoleRegisters.h"

#include "Target/Engines/Wgmma.h"
#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"

#include <algorithm>

namespace tile::target {

static constexpr unsigned groupThreads = warpsPerGroup * threadsPerWarp;

/// Returns the registers per consumer thread. Consumer groups share all registers with which the CTA starts, except for
/// those that the producer keeps.
static unsigned consumerRegisters(unsigned groups, unsigned atStart, unsigned producer) {
  return (atStart * (groups + 1) - producer) / groups / registerGranule * registerGranule;
}

std::optional<RoleRegisters> planRoleRegisters(const GpuTarget &gpu, unsigned consumerWarps) {
  unsigned groups = consumerWarps / warpsPerGroup, producer = tunedOf(gpu).producerRegisters;
  if (groups < 2)
    return std::nullopt;
  return RoleRegisters{consumerRegisters(groups, registersAtStart(1, groupThreads * (groups + 1)), producer), producer};
}

unsigned countProducerWarps(bool setsRegisters) {
  return setsRegisters ? warpsPerGroup : 1;
}

std::vector<SharedRoleRegisters> planSharedRoleRegisters(const GpuTarget &gpu, unsigned groups,
                                                         int64_t registersOfTensors, int64_t registersOfAccumulator) {
  const Tuned &tuned = tunedOf(gpu);
  unsigned maxGroups = tuned.sharedConsumerGroups, producer = tuned.sharedProducerRegisters;
  std::vector<SharedRoleRegisters> plans;
  for (unsigned ctas = maxGroups / groups; ctas > 1; --ctas) {
    unsigned atStart = registersAtStart(ctas, (groups + 1) * groupThreads);
    unsigned consumer = consumerRegisters(groups, atStart, producer);
    int64_t spare = ctas * groups == maxGroups ? tuned.spareRegistersInOrder : tuned.spareRegistersAhead;
    if (registersOfTensors + spare <= consumer &&
        registersOfAccumulator + tuned.spareRegistersOfAccumulator <= int64_t(atStart))
      plans.push_back({{consumer, producer}, ctas});
  }
  return plans;
}

unsigned ctasOfRoleRegisters(unsigned registers) {
  return registers == 0 ? 0 : registersPerSm / registers;
}

unsigned registersAtStart(unsigned ctas, unsigned threads) {
  const uint64_t all = uint64_t(ctas) * threads; // PTX may ask for any number of CTAs
  const uint64_t share = std::min<uint64_t>(registersPerSm / all, maxRegistersPerThread + 1);
  return unsigned(share) / registerGranule * registerGranule;
}

} // namespace tile::target
