// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that distribute a tensor over the threads of a CTA without regard to an instruction.
//
//   blocked([4, 16], {sizePerThread [1, 2], threadsPerWarp [4, 8], warpsPerCta [1, 1], order [1, 0]})
//     row 0:  T0 T0 T1 T1 … T7 T7
//     row 1:  T8 T8 T9 T9 … T15 T15          order[0] is the dimension that varies fastest
//
// If a tensor is larger than one CTA tile, the tile is repeated in further registers. Along a dimension that is smaller
// than the tile, the excess register bits are omitted, and the excess lanes and warps hold copies (zero bases).
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// The tile of a blocked layout. All sizes are powers of two, one for each dimension; `order` lists the dimensions, the
/// fastest one first. There is at least one dimension.
struct BlockedTile {
  std::vector<int64_t> sizePerThread;
  std::vector<int64_t> threadsPerWarp; // their product is 32
  std::vector<int64_t> warpsPerCta;
  std::vector<unsigned> order;
};

/// Returns the blocked layout. Its register bits are first those of the elements in a thread's tile (in `order`), then
/// those of the repetitions of the CTA tile (in `order`).
LinearLayout blocked(const std::vector<int64_t> &shape, const BlockedTile &tile);

/// Returns the tile for coalesced accesses. Each thread holds up to `vectorElements` consecutive elements along
/// order[0] (fewer if some threads would otherwise hold no element). Lanes continue along order[0], then order[1], …,
/// and warps continue where the lanes end.
BlockedTile defaultBlockedTile(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                               int64_t vectorElements, int64_t numWarps);

/// Returns the accumulator layout of a dot that is computed with FMA instructions. As far as possible, a thread holds
/// as many rows as columns, so it loads the fewest operand elements. At least eight lanes hold adjacent columns, so
/// each of them reads 16 bytes of a row of B.
LinearLayout outerProduct(const std::vector<int64_t> &shape, int64_t vectorElements, int64_t numWarps);

LinearLayout defaultBlocked(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                            int64_t vectorElements, int64_t numWarps);

/// Returns rank-1, …, 0, in which the last dimension is the fastest.
std::vector<unsigned> rowMajorOrder(unsigned rank);

} // namespace tile::layout
