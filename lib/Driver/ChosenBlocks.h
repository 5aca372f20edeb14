// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel cannot do with blocks that were chosen for it.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::driver {

/// Blocks have sizes that are no powers of two, and the kernel does with them what such blocks cannot do, or multiplies
/// them in a way that warp groups cannot.
bool refusesItsBlocks(KernelOp kernel);

/// Whether it multiplies f32 more precisely than warp groups do.
bool isForWarps(KernelOp kernel);

/// Whether a thread has the sums of two products at a time.
bool needsRoomForSums(KernelOp kernel);

} // namespace tile::driver
