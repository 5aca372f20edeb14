// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What several warps would load and compute, and only the first of them stores.
//
//   %x = tile.load %p           64 elements, 2 in each lane: every warp has all of them
//   %y = tile.scan %x           by shuffles
//   tile.store %q, %y           by the first warp
//
// The others load the same sectors once more, which takes the load unit's time, for nothing.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Whether some warps only repeat what others load, and all that is computed from it reaches stores, where they do
/// nothing, and neither other warps nor control flow. Each lane of a warp has elements of its own.
bool isRepeatedForNothing(LoadOp load);

} // namespace tile
