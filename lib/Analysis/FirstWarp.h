// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all warps would load and compute, and only the first one stores.
//
//   %x = tile.load %p           64 elements, 2 in each lane: every warp has all of them
//   %y = tile.scan %x           by shuffles
//   tile.store %q, %y           by the first warp
//
// The others load the same sectors once more, which takes the load unit's time, for nothing.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Whether what is loaded, and all that is computed from it, reaches stores by the first warp alone, and neither other
/// warps nor control flow. Each warp holds the whole block, and each lane elements of its own.
bool isForFirstWarp(LoadOp load);

} // namespace tile
