// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared-memory buffer for converting a tensor from one distributed layout to another.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns swizzled rows if threads of one layout hold 16 adjacent bytes of a row, and those of the other hold MMA
/// fragments that ldmatrix or stmatrix moves four at a time. No thread then has to unpack elements, as it would with
/// the widest vectors common to both layouts. Otherwise returns bankConflictFree(src, dst), or for sub-word elements
/// bankConflictFree of one side with itself if that is clearly cheaper: the layouts have short common vectors, and the
/// side with many more elements then needs only few wide accesses.
LinearLayout conversionBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
