// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of shared-memory buffers, which map an offset (in elements) to a coordinate; they are always one-to-one.
//
//   128-byte swizzle, rows of 128 bytes, in chunks of 16 bytes (entry: the chunk stored at each position):
//     row 0:  0 1 2 3 4 5 6 7
//     row 1:  1 0 3 2 5 4 7 6         position = chunk XOR (row mod 8)
//     row 2:  2 3 0 1 6 7 4 5         so 8 consecutive rows of a chunk lie in 8 different bank groups
//
// The hardware (TMA, wgmma descriptors) swizzles *addresses*: with a W-byte swizzle, address bits [4, 4+s) are XORed
// with bits [7, 7+s), where 2^s = W / 16. Buffers must be aligned to 8 * W bytes. If the contiguous extent is wider
// than W, it is divided into panels of W bytes, one after another, each of which holds all rows of order[1]. These
// panels are the boxes that TMA can write, and the atoms over which a wgmma descriptor can step.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

inline constexpr int64_t chunkBytes = 16;     ///< the unit of every swizzle: a row of an 8x8 matrix of 16-bit elements
inline constexpr int64_t bankLineBytes = 128; ///< 32 banks of 4 bytes

/// Returns plain storage; order[0] is the contiguous dimension.
LinearLayout unswizzledShared(const std::vector<int64_t> &shape, const std::vector<unsigned> &order);

/// Returns swizzled storage; swizzleBytes is 0 (the same as unswizzledShared), 32, 64 or 128.
LinearLayout swizzledShared(const std::vector<int64_t> &shape, unsigned elementBytes,
                            const std::vector<unsigned> &order, unsigned swizzleBytes);

/// Returns the widest swizzle that fits into the contiguous extent, or 0 if the extent is below 32 bytes.
unsigned chooseSwizzle(const std::vector<int64_t> &shape, unsigned elementBytes, const std::vector<unsigned> &order);

/// How a buffer lies in memory, as needed for TMA and wgmma.
struct SwizzleForm {
  std::vector<unsigned> order;
  unsigned swizzleBytes = 0;
  int64_t panelElements = 0; // extent of a panel along order[0]
};
/// Returns the form of `layout`, or nullopt if it is not row- or column-major storage, with or without a swizzle.
/// Dimensions of size 1 may be anywhere in the order.
std::optional<SwizzleForm> matchSwizzle(const LinearLayout &layout, unsigned elementBytes);

/// Returns the number of leading offsets of a buffer with `layout` that contain all elements of `shape`. `shape` must
/// be the shape of the layout, or smaller along one dimension whose bits are the highest offset bits. Returns nullopt
/// for other shapes.
std::optional<int64_t> usedExtent(const LinearLayout &layout, const std::vector<int64_t> &shape);

/// Returns a buffer for converting a tensor from the distributed layout `src` to `dst`. It can be written in layout
/// `src` and read in layout `dst` without bank conflicts, with the widest vectors that both layouts permit
/// (planVectorAccess finds them).
LinearLayout bankConflictFree(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
