// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order of the elements in a buffer that holds one panel of a tensor at a time.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns bankConflictFree's buffer, reordered such that its highest offset bits, which select the panel, are register
/// bits of both layouts as far as possible. All threads then access all panels alike and need not test which elements
/// belong to them.
LinearLayout panelBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
