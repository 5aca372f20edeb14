// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of accumulators that are loaded from, or stored to, tensor memory.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns which thread of `warps` warps, whole warp groups, holds which element of an m x n accumulator. A warp
/// reaches the lanes of its index modulo 4. With 128 rows or more, a thread has one row of each 128, and its registers
/// are consecutive columns (PTX ISA, `tcgen05.ld`, shape .32x32b); with 64 rows the layout is that of wgmma (.16x256b),
/// and with fewer the accumulator has 64 rows, of which these are the first, and the others repeat them. Warp groups
/// divide the blocks of 128 rows first, then the columns.
LinearLayout tensorMemoryLayout(int64_t m, int64_t n, unsigned warps);

/// Returns the layout in shared memory of scales, of one byte, of `lines` rows (or columns) and `groups` groups along k
/// from which `tcgen05.cp`, shape .32x128b, copies them to tensor memory: 512 bytes hold the scales of 32 lines, 16
/// bytes each, in four columns of 4 bytes. Columns are groups of 32 lines first, then 4 groups along k.
LinearLayout scalesLayout(int64_t lines, int64_t groups);

} // namespace tile::layout
