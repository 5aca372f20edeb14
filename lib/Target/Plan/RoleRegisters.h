// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warp roles of a CTA and their registers (PTX ISA, "setmaxnreg"). A CTA starts with the same number for all
// threads; what the producer releases, the consumer warps take.
//
//   planRoleRegisters(gpu, 8)            // {.consumer = 232, .producer = 40}
//   planSharedRoleRegisters(gpu, 1, 70, 32).front()    // 4 CTAs a multiprocessor, {104, 24}
#pragma once

#include "Target/GpuTarget.h"

#include <optional>
#include <vector>

namespace tile::target {

/// Registers a thread of each role.
struct RoleRegisters {
  unsigned consumer, producer;

  bool operator==(const RoleRegisters &) const = default;
};

/// None for one consumer warp group, which needs no more than it starts with.
std::optional<RoleRegisters> planRoleRegisters(const GpuTarget &gpu, unsigned consumerWarps);

/// The producer is one thread. Where it releases registers, it is of a warp group of its own, since setmaxnreg is for
/// whole ones; else of a warp, so that idle warps hold no registers that another CTA could have.
unsigned countProducerWarps(bool setsRegisters);

/// Registers of CTAs that share a multiprocessor, so that one's MMAs run under what another computes.
struct SharedRoleRegisters {
  RoleRegisters registers;
  unsigned ctas; ///< of a multiprocessor
};

/// For `groups` consumer warp groups whose threads hold tensors of so many registers, of which an accumulator has so
/// many: most CTAs first, and none where they take too many. Four warp groups on a multiprocessor wait for each other's
/// MMAs so little that none has to run ahead, which leaves their threads fewer registers besides the tensors.
std::vector<SharedRoleRegisters> planSharedRoleRegisters(const GpuTarget &gpu, unsigned groups,
                                                         int64_t registersOfTensors, int64_t registersOfAccumulator);

/// CTAs whose roles have so many registers in all on a multiprocessor.
unsigned ctasOfRoleRegisters(unsigned registers);

/// Registers with which each of `threads` starts where so many CTAs share a multiprocessor: a whole number of granules.
unsigned registersAtStart(unsigned ctas, unsigned threads);

} // namespace tile::target
