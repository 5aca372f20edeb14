// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared-memory buffer through which a tensor is converted from one distributed layout to another.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns swizzled rows if the threads of one layout hold 16 adjacent bytes of a row, and the threads of the other
/// layout hold MMA fragments that ldmatrix or stmatrix can move four at a time. Threads then need not unpack elements,
/// as they would with the widest vectors that the two layouts have in common. Otherwise returns bankConflictFree(src,
/// dst). For sub-word elements, returns bankConflictFree(layout, layout) instead, where `layout` is src or dst, if that
/// is clearly cheaper. This is the case if the common vectors are short and one layout holds many more elements per
/// thread, so that its threads need only a few wide accesses.
LinearLayout conversionBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
