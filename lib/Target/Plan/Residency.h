// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many CTAs of a kernel run side by side on a multiprocessor, and which resource is the bottleneck.
//
//   Residency held = planResidency(gpu, {.threads = 160, .registers = 168, .sharedBytes = 100 << 10});
//   held.ctas()            // 2
//   held.bottleneck()      // Resource::SharedMemory
//
// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; CUDA's occupancy calculator
// (cuda_occupancy.h).
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

/// A warp gets its registers in units: so many for a thread.
constexpr unsigned registerGranule = 8;

/// Resources of a CTA.
struct CtaUse {
  int64_t threads = 1;
  int64_t registers = 0;   ///< of a thread; 0 if that is not known: registers are no limit then
  int64_t sharedBytes = 0; ///< dynamic and static, without what the driver reserves
};

enum class Resource { Ctas, Threads, SharedMemory, Registers };

/// "CTAs", "threads", "shared memory", "registers".
std::string_view resourceName(Resource resource);

/// As many CTAs as each resource of a multiprocessor holds.
struct Residency {
  int64_t byCtas = 0, byThreads = 0, byShared = 0, byRegisters = 0;

  int64_t ctas() const;
  /// The resource that holds the fewest; of several, the first in the order of `Resource`.
  Resource bottleneck() const;
};

Residency planResidency(const GpuTarget &gpu, const CtaUse &use);

/// The most registers of a thread with which so many CTAs run side by side.
int64_t registersForCtas(int64_t ctas, int64_t threads);

/// The most registers of a thread of a CTA that is alone on its multiprocessor, without the rounding to whole warps of
/// a partition.
int64_t registersOfLoneCta(int64_t threads);

/// The bytes of shared memory that a CTA may have where so many run side by side.
int64_t sharedForCtas(const GpuTarget &gpu, int64_t ctas);

} // namespace tile::target
