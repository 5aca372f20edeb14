// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How threads transpose a matrix that lies in shared memory with one dimension contiguous, and is stored with the
// other.
//
// A thread reads four elements along the one dimension, 16 bytes of them along the other, and stores these at once.
// Both buffers are swizzled as usual (SharedLayouts.h). Lanes walk along the first dimension, and the second and third
// step are also steps along the other one: so lanes read different banks, and store to different ones.
//
//   8-bit, 128 columns     register  1 2 4 8 rows, 1 2 columns     lane  4, 8 and 16 rows, 16 and 32 rows, 32, 64
//   columns
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// What threads read of a matrix of elements of 1, 2 or 4 bytes that is contiguous along dimension `from`, and store
/// with the other one contiguous.
LinearLayout planTransposition(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                               int64_t numWarps);

} // namespace tile::layout
