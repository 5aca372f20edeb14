// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in for the driver's cuTensorMapEncodeTiled where kernels run in the simulator: a map of the simulator's
// own format.
#pragma once

#include "Runtime/Driver.h"

namespace tile::sim {

runtime::CUresult encodeTiled(runtime::TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                              int interleave, int swizzle, int promotion, int fill);

/// What the last map of this thread was refused for: the driver's interface has no room for it.
const std::string &lastMapError();

} // namespace tile::sim
