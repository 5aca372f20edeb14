// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the registers of a CTA's warp roles (PTX ISA, "setmaxnreg"). A CTA starts with the same number of registers for
// all threads; then the consumer warps take the registers that the producer releases.
//
//   planRoleRegisters(gpu, 8)            // {.consumer = 232, .producer = 40}
//   planSharedRoleRegisters(gpu, 1, 70, 32).front()    // 4 CTAs per multiprocessor, {104, 24}
#pragma once

#include "Target/GpuTarget.h"

#include <optional>
#include <vector>

namespace tile::target {

/// Registers per thread of each role.
struct RoleRegisters {
  unsigned consumer, producer;

  bool operator==(const RoleRegisters &) const = default;
};

/// Returns the registers of each role; nullopt for one consumer warp group, which needs no more registers than those
/// with which it starts.
std::optional<RoleRegisters> planRoleRegisters(const GpuTarget &gpu, unsigned consumerWarps);

/// Returns the number of warps of the producer, which is a single thread. A producer that releases registers needs a
/// separate warp group, because setmaxnreg applies to whole warp groups. Otherwise, one warp suffices, so that idle
/// warps hold no registers that another CTA could use.
unsigned countProducerWarps(bool setsRegisters);

/// Registers of CTAs that share a multiprocessor, so that the MMAs of one CTA overlap the computation of another.
struct SharedRoleRegisters {
  RoleRegisters registers;
  unsigned ctas; ///< number of CTAs that share a multiprocessor
};

/// Returns budgets for `groups` consumer warp groups per CTA, the budget with the most CTAs first; there is none if
/// threads need too many registers. Each thread holds tensors in `registersOfTensors` registers, which include an
/// accumulator in `registersOfAccumulator` registers. Four warp groups on a multiprocessor hide each other's MMA
/// latency so well that no loop needs to run one iteration ahead, which would leave fewer registers for other tensors.
std::vector<SharedRoleRegisters> planSharedRoleRegisters(const GpuTarget &gpu, unsigned groups,
                                                         int64_t registersOfTensors, int64_t registersOfAccumulator);

/// Returns the number of CTAs per multiprocessor if the roles of each CTA have `registers` registers in total; 0 if
/// `registers` is 0.
unsigned ctasOfRoleRegisters(unsigned registers);

/// Returns the number of registers with which each of `threads` threads starts if `ctas` CTAs share a multiprocessor.
/// It is a multiple of the granule.
unsigned registersAtStart(unsigned ctas, unsigned threads);

} // namespace tile::target
