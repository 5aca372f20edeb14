// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits that the language, layouts, passes and cost model share. This file contains only constants, so every library
// may include it.
#pragma once

#include <cstdint>

namespace tile::target {

/// Maximum number of stages of a kernel, or of a loop that sets its own number.
constexpr unsigned maxStages = 16;

/// Maximum elements of a TMA box along each dimension (CUDA driver API, cuTensorMapEncodeTiled).
constexpr int64_t maxBoxExtent = 256;

/// The size in bytes of an mbarrier in shared memory (PTX ISA, "mbarrier"). A slot of a ring has two mbarriers.
constexpr int64_t mbarrierBytes = 8;

} // namespace tile::target
