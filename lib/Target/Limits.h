// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits that the language, layouts, passes and the cost model share. Numbers alone: every floor may include it.
#pragma once

#include <cstdint>

namespace tile::target {

/// Stages of a kernel, and of a loop of its own.
constexpr unsigned maxStages = 16;

/// Elements of a TMA box along each dimension (CUDA driver API, cuTensorMapEncodeTiled).
constexpr int64_t maxBoxExtent = 256;

/// Of one barrier in shared memory (PTX ISA, "mbarrier"): a slot of a ring has two.
constexpr int64_t mbarrierBytes = 8;

} // namespace tile::target
