// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a block passes through shared memory on its way to global memory: panel by panel, through a ring of two.
//
//   planStorePanels(256, 64)      // 4 panels of 64 columns, in 2 buffers
//   planStorePanels(144, 64)      // 2 panels of 64 columns, and a remainder of 16 in a buffer of its own
//   planStorePanels(144, 64, false)    // 9 panels of 16
//
// cta-lower-descriptors cuts blocks by this function, and the cost model counts their buffers.
#pragma once

#include <cstdint>

namespace tile::target {

/// Panels of a block that are on their way to memory at a time, while the next one is computed.
constexpr int64_t storeBuffers = 2;

/// Columns, or rows of a block that is cut along these.
struct StorePanels {
  int64_t panel;     ///< of each panel
  int64_t count;     ///< panels of this size
  int64_t buffers;   ///< of panels
  int64_t remainder; ///< of the last panel, if no number of the others makes up the block

  /// All that is in shared memory at a time.
  int64_t buffered() const { return panel * buffers + remainder; }

  bool operator==(const StorePanels &) const = default;
};

/// For a block of `size` columns, of which a swizzle covers `widest`, a power of two. A remainder is a power of two,
/// and needs a tensor map of its own (`mayHaveRemainder`); else panels divide the block.
StorePanels planStorePanels(int64_t size, int64_t widest, bool mayHaveRemainder = true);

} // namespace tile::target
