// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the elements in a buffer that holds one panel of a tensor at a time.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns the buffer of bankConflictFree with its offset bits reordered: as far as possible, the highest offset bits,
/// which select the panel, are register bits of both layouts. All threads then access all panels alike and need not
/// test which of their elements belong to a panel.
LinearLayout panelBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
