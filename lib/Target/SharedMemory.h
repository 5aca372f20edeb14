// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory of a CTA in addition to its buffers.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

/// The alignment in bytes of a CTA's shared memory, which a 128-byte swizzle requires. Passes that fill shared memory
/// keep this many bytes free for the alignment of buffers.
constexpr unsigned sharedAlignment = 1024;

/// Returns the bytes that the driver reserves in each CTA: CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability".
constexpr unsigned reservedShared(const GpuTarget &gpu) {
  return gpu.capability >= 80 ? 1024 : 0;
}

} // namespace tile::target
