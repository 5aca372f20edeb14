// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the store of a block to global memory through shared memory: panel by panel, through a ring of two buffers.
//
//   planStorePanels(256, 64)      // 4 panels of 64 columns, in 2 buffers
//   planStorePanels(144, 64)      // 2 panels of 64 columns, and a remainder of 16 in a separate buffer
//   planStorePanels(144, 64, false)    // 9 panels of 16
//
// cta-lower-descriptors splits blocks with this function, and the cost model counts the panels' buffers.
#pragma once

#include <cstdint>

namespace tile::target {

/// The number of buffers for panels: one is being stored while the next one is computed.
constexpr int64_t storeBuffers = 2;

/// The panels of a block. Sizes are in columns, or in rows if the block is split along rows.
struct StorePanels {
  int64_t panel;     ///< size of each panel
  int64_t count;     ///< number of panels of this size
  int64_t buffers;   ///< number of buffers of panels
  int64_t remainder; ///< size of the last panel if the others do not cover the block; otherwise 0

  /// Returns the columns that are in shared memory at a time.
  int64_t buffered() const { return panel * buffers + remainder; }

  bool operator==(const StorePanels &) const = default;
};

/// Plans the panels of a block of `size` columns. A swizzle covers up to `widest` columns, a power of two. With
/// `mayHaveRemainder`, the last panel may be smaller; its size is a power of two, and it needs a separate tensor map.
/// Otherwise, panels divide the block evenly.
StorePanels planStorePanels(int64_t size, int64_t widest, bool mayHaveRemainder = true);

} // namespace tile::target
