// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline options for kernels that would otherwise need more shared memory than the target has.
#pragma once

#include "Pipeline/GpuPipeline.h"

#include <optional>

namespace tile {

/// Returns the options with which kernels take the least shared memory: they disable the passes that copy blocks to
/// shared memory ahead of their use. Returns nullopt if `options` already exclude these passes.
std::optional<GpuPipelineOptions> withLeastSharedMemory(const GpuPipelineOptions &options);

} // namespace tile
