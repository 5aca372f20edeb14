// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a matrix is transposed in shared memory: copied with one dimension contiguous, read, and stored with the other.
//
// A thread reads four elements along the one dimension, 16 bytes of them along the other, and stores these at once.
// Lanes read consecutive elements, and from four rows: with those bits of the row that tell lanes apart in the place of
// its chunks of 16 bytes, they read different banks. What they store is swizzled as usual (SharedLayouts.h).
//
//   8-bit, 128 columns     register  1 2 … 15 rows, 1 2 3 columns     lane  16 32 rows, 4 8 16 columns
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

struct Transposition {
  LinearLayout copy;      ///< The buffer that is read, of which 16 bytes along `from` are consecutive.
  LinearLayout registers; ///< What threads read of it, and store with the other dimension contiguous.
};

/// Of a matrix of elements of 1, 2 or 4 bytes that is contiguous along dimension `from`, and shall be along the other.
Transposition planTransposition(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                                int64_t numWarps);

} // namespace tile::layout
