// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces the driver's cuTensorMapEncodeTiled where kernels run in the simulator. The tensor map has the simulator's
// private format.
#pragma once

#include "Runtime/Driver.h"

namespace tile::sim {

runtime::CUresult encodeTiled(runtime::TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                              int interleave, int swizzle, int promotion, int fill);

/// Returns the reason why the last tensor map of this thread was rejected, which the driver API cannot report.
const std::string &lastMapError();

} // namespace tile::sim
