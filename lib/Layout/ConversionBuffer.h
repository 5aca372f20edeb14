// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared-memory buffer through which a tensor is converted from one distributed layout to another.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns swizzled rows if the threads of one layout hold 16 adjacent bytes of a row, and those of the other layout
/// hold MMA fragments that ldmatrix or stmatrix can move four at a time. In this case no thread has to unpack elements,
/// as it would with the widest vectors that the two layouts have in common. Otherwise returns bankConflictFree(src,
/// dst) or, for sub-word elements, bankConflictFree of one layout with itself if that is clearly cheaper. It is cheaper
/// if the layouts have only short common vectors and one layout holds many more elements per thread, so that it needs
/// only a few wide accesses.
LinearLayout conversionBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
