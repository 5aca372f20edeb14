// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory of a CTA besides its buffers, and how blocks of results pass through it: the passes use it so, and the
// cost model counts on it.
#pragma once

#include "Target/GpuTarget.h"
#include "Target/Limits.h"

namespace tile::target {

/// Bytes at whose multiples the shared memory of a CTA begins: what a 128-byte swizzle needs. Passes that fill shared
/// memory keep as many free, for the alignment of buffers.
constexpr unsigned sharedAlignment = 1024;

/// Bytes of each CTA that the driver takes: CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
constexpr unsigned reservedShared(const GpuTarget &gpu) {
  return gpu.capability >= 80 ? 1024 : 0;
}

/// Bytes of a ring whose slots have so many each, with the two barriers of a slot: full and empty.
constexpr int64_t ringBytes(int64_t slotBytes, int64_t slots) {
  return slots * (slotBytes + 2 * mbarrierBytes);
}

/// Panels of a block that are on their way to memory at a time, while the next one is computed.
constexpr unsigned storePanels = 2;

} // namespace tile::target
