// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline for kernels that would take more shared memory than there is.
#pragma once

#include "Pipeline/GpuPipeline.h"

#include <optional>

namespace tile {

/// The options with which kernels take the least shared memory: nothing is copied there past the registers, to wait for
/// its use. None if `options` are so already.
std::optional<GpuPipelineOptions> withLeastSharedMemory(const GpuPipelineOptions &options);

} // namespace tile
