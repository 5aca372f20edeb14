// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Disables the passes that keep blocks in shared memory although they could be loaded where they are used.
#include "Pipeline/LeastMemory.h"

using namespace mlir;
using namespace tile;

std::optional<GpuPipelineOptions> tile::withLeastSharedMemory(const GpuPipelineOptions &options) {
  // Steps that have already run cannot be disabled, and without optimisation no block is copied to shared memory.
  if (options.optLevel == 0 || !options.startAfter.empty())
    return std::nullopt;
  GpuPipelineOptions least = options;
  for (StringRef name : {"tile-raise-descriptors", "tile-host-descriptors", "tile-device-descriptors",
                         "cta-async-copies", "cta-keep-rows"})
    if (!llvm::is_contained(options.disabled, name))
      least.disabled.push_back(name.str());
  return least.disabled.size() == options.disabled.size() ? std::nullopt : std::optional(least);
}
