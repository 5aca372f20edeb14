// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of accumulators that are loaded from, or stored to, tensor memory.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Returns the layout in which `warps` warps (whole warp groups) load and store an m x n accumulator. Warp w can access
/// the 32 lanes that start at lane 32 * (w mod 4). With 128 rows or more, a thread holds one row of each block of 128,
/// and its registers are consecutive columns (PTX ISA, `tcgen05.ld`, shape .32x32b). With 64 rows, the layout is that
/// of wgmma (.16x256b). With fewer rows, the accumulator in tensor memory has 64 rows: the first m are the rows of the
/// tensor, and the other rows repeat them. The blocks of 128 rows are divided among warp groups first, then the
/// columns.
LinearLayout tensorMemoryLayout(int64_t m, int64_t n, unsigned warps);

/// Returns the layout in shared memory of one-byte scales for `lines` rows (or columns) and `groups` groups along k, as
/// `tcgen05.cp` with shape .32x128b copies them to tensor memory: 512 bytes hold 16 bytes for each of 32 lines, in four
/// columns of 4 bytes. Consecutive columns step first through groups of 32 lines, then through groups of 4 scales along
/// k.
LinearLayout scalesLayout(int64_t lines, int64_t groups);

} // namespace tile::layout
