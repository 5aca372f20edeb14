// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout in which threads transpose a matrix in shared memory, from one contiguous dimension to the other.
//
// A thread reads four elements along the source's contiguous dimension and 16 bytes of elements along the other one,
// and stores each 16 bytes in one access. Both buffers have the usual swizzle (SharedLayouts.h). Lanes step along the
// first dimension; their second and third steps also move along the other one, so that lanes read from, and store to,
// different banks.
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
