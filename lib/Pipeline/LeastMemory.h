// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline for kernels that would exceed the shared memory.
#pragma once

#include "Pipeline/GpuPipeline.h"

#include <optional>

namespace tile {

/// Returns the options with which kernels take the least shared memory: no copies bypass registers to wait for their
/// use in shared memory. None if `options` are already such.
std::optional<GpuPipelineOptions> withLeastSharedMemory(const GpuPipelineOptions &options);

} // namespace tile
