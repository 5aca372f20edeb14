// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout in which threads transpose a matrix in shared memory, so that the other dimension becomes contiguous.
//
// A thread reads four elements along the contiguous dimension of the source, and 16 bytes' worth of elements along the
// other dimension; it stores each 16 bytes in one access. Both buffers have the usual swizzle (SharedLayouts.h). Lanes
// step along the source's contiguous dimension; the second and third lane bits also move along the other dimension, so
// that the lanes of a phase access different banks both when they read and when they store.
//
//   8-bit, 128 columns:   register  1, 2, 4, 8 rows; 1, 2 columns
//                         lane      4 columns, 8 columns and 16 rows, 16 columns and 32 rows, 32 and 64 columns
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns the layout in which threads read a matrix of 1-, 2- or 4-byte elements that is contiguous along dimension
/// `from`, in order to store it with the other dimension contiguous.
LinearLayout planTransposition(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                               int64_t numWarps);

} // namespace tile::layout
