// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes how many CTAs of a kernel are resident on a multiprocessor, and which resource limits this number.
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

/// The allocation granularity of registers per thread.
constexpr unsigned registerGranule = 8;

/// The resources that a CTA uses.
struct CtaUse {
  int64_t threads = 1;
  int64_t registers = 0;   ///< per thread; 0: unknown, and then not a limit
  int64_t sharedBytes = 0; ///< dynamic and static, without the part that the driver reserves
};

enum class Resource { Ctas, Threads, SharedMemory, Registers };

/// Returns "CTAs", "threads", "shared memory" or "registers".
std::string_view resourceName(Resource resource);

/// The number of CTAs that each resource of a multiprocessor allows.
struct Residency {
  int64_t byCtas = 0, byThreads = 0, byShared = 0, byRegisters = 0;

  /// Returns the number of resident CTAs, which is the minimum over the resources.
  int64_t ctas() const;
  /// Returns the resource that allows the fewest CTAs; if there are several, the first in the order of `Resource`.
  Resource bottleneck() const;
};

Residency planResidency(const GpuTarget &gpu, const CtaUse &use);

/// Returns the largest number of registers per thread with which `ctas` CTAs are resident together.
int64_t registersForCtas(int64_t ctas, int64_t threads);

/// Returns the largest number of registers per thread of a CTA that is alone on its multiprocessor, without rounding
/// to whole warps per partition.
int64_t registersOfLoneCta(int64_t threads);

/// Returns the bytes of shared memory that a CTA may use if `ctas` CTAs are to be resident.
int64_t sharedForCtas(const GpuTarget &gpu, int64_t ctas);

} // namespace tile::target
