// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that distribute a tensor over the threads of a CTA without regard to an instruction.
//
//   blocked([4, 16], {sizePerThread [1, 2], threadsPerWarp [4, 8], warpsPerCta [1, 1], order [1, 0]})
//     row 0:  T0 T0 T1 T1 … T7 T7
//     row 1:  T8 T8 T9 T9 … T15 T15          order[0] is the dimension that varies fastest
//
// A tensor larger than one CTA tile repeats the tile in more registers; along a dimension that is smaller than the tile
// the excess register bits vanish and the excess lanes and warps hold copies (zero bases).
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Tile of a blocked layout. All sizes are powers of two, one for each dimension (at least one); `order` lists the
/// dimensions, fastest first.
struct BlockedTile {
  std::vector<int64_t> sizePerThread;
  std::vector<int64_t> threadsPerWarp; // product 32
  std::vector<int64_t> warpsPerCta;
  std::vector<unsigned> order;
};

/// Returns the blocked layout. Its register bits are the elements of a thread (in `order`), then the repetitions of the
/// CTA tile (in `order`).
LinearLayout blocked(const std::vector<int64_t> &shape, const BlockedTile &tile);

/// Returns the tile for coalesced access. Each thread holds up to `vectorElements` consecutive elements along order[0]
/// (fewer if threads would otherwise idle); lanes and then warps continue along order[0], then order[1], …
BlockedTile defaultBlockedTile(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                               int64_t vectorElements, int64_t numWarps);

/// Returns the accumulator layout of a dot computed with FMA instructions. A thread holds as many rows as columns, as
/// far as possible, and so loads the fewest operand elements. At least eight lanes hold adjacent columns, each 16 bytes
/// of a row of B.
LinearLayout outerProduct(const std::vector<int64_t> &shape, int64_t vectorElements, int64_t numWarps);

LinearLayout defaultBlocked(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                            int64_t vectorElements, int64_t numWarps);

/// Returns rank-1, …, 0: the last dimension is fastest.
std::vector<unsigned> rowMajorOrder(unsigned rank);

} // namespace tile::layout
