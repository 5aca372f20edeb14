// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot operands with several elements packed into one integer in memory, such as 4-bit weights.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Returns how many consecutive elements along k of an operand of the dot are unpacked from one integer in memory. This
/// is the larger count of the two operands: 1, 2, 4 or 8, where 1 means that neither is packed along k.
///
///   %w = tile.load … : 16x64xi32                                     eight rows in an integer
///   %q = shrsi (broadcast (expand_dims %w)), %bits : 16x8x64xi32
///   %b = uitofp (reshape (andi %q, 15)) : 128x64xf16                 of tile.dot %a, %b: 8
int64_t countPackedAlongK(DotOp dot);

} // namespace tile
