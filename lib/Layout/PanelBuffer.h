// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the elements in a buffer that holds one panel of a tensor at a time.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns the buffer of bankConflictFree with its offset bits reordered. If possible, the highest offset bits, which
/// select the panel, are offset bits that only registers affect, in both layouts. Then all threads access the same
/// registers for a panel, and need not test which of their elements belong to it.
LinearLayout panelBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
