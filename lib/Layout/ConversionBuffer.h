// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The buffer through which a tensor goes from the threads of one layout to those of another.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Swizzled rows if the threads of one layout have 16 bytes of a row next to each other and those of the other
/// fragments of a product that ldmatrix loads or stmatrix stores, four at a time: then no thread takes its elements
/// apart, as it does for the widest vectors that both layouts have in common. Else bankConflictFree's: of both, or of
/// halves and bytes where they have little in common, and the threads of one hold many more elements, of that one,
/// which then takes few wide accesses.
LinearLayout conversionBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
