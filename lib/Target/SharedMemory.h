// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory of a CTA besides its buffers.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

/// Bytes at whose multiples the shared memory of a CTA begins: what a 128-byte swizzle needs. Passes that fill shared
/// memory keep as many free, for the alignment of buffers.
constexpr unsigned sharedAlignment = 1024;

/// Bytes of each CTA that the driver takes: CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
constexpr unsigned reservedShared(const GpuTarget &gpu) {
  return gpu.capability >= 80 ? 1024 : 0;
}

} // namespace tile::target
