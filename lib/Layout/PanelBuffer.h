// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which a tensor passes a buffer that holds a part of it at a time.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// bankConflictFree's buffer, of which the highest offset bits, which number panels, select registers of both layouts
/// as far as there are any: then all threads access all panels alike, and need not ask which elements are theirs.
LinearLayout panelBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

} // namespace tile::layout
