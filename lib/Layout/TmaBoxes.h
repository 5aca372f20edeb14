// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The boxes of the TMA instructions that load or store a shared-memory buffer.
//
// A tensor map has one box shape and one swizzle. The box is a panel of the buffer (SharedLayouts.h), which is split if
// a dimension has more than 256 elements:
//
//   [128, 128] f16, 128-byte swizzle:  two boxes [128, 64]:  coordinates (0, 0) at byte 0, (0, 64) at byte 16384
//
// Limits: CUDA driver API, cuTensorMapEncodeTiled.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

struct TmaBoxes {
  std::vector<int64_t> shape; ///< Shape of one box, outermost dimension first.
  int64_t tailColumns = 0;    ///< Columns of the narrower boxes in the last panel; 0 if all boxes are equal.
  unsigned swizzleBytes = 0;  ///< 0, 32, 64 or 128.
  struct Box {
    std::vector<int64_t> coordinates; ///< Coordinates of the box's first element in the buffer.
    int64_t byteOffset = 0;           ///< Offset of the box in the buffer.
    bool isTail = false;              ///< The box has `tailColumns` columns and needs a second tensor map.
    bool operator==(const Box &) const = default;
  };
  std::vector<Box> boxes;
};

/// Plans the boxes that cover `shape`, which may be smaller than the layout's shape. If `shape` is empty, the layout's
/// shape is used. Returns nullopt if TMA cannot write the buffer: it must have rank 1 or 2 and consecutive rows of at
/// least 16 bytes, with or without a swizzle. If a box has fewer columns than a panel, each of its rows still takes a
/// whole row of the swizzle (CUDA Programming Guide, "Shared memory swizzle"; confirmed by measurement).
std::optional<TmaBoxes> planTmaBoxes(const LinearLayout &buffer, unsigned elementBytes,
                                     const std::vector<int64_t> &shape = {});

/// Equal parts of a buffer that are copied separately: the boxes of the first part, and the distance between parts.
struct TmaParts {
  TmaBoxes boxes;
  std::vector<int64_t> coordinates; ///< Distance between consecutive parts, as coordinates.
  int64_t bytes = 0;                ///< Distance between consecutive parts in bytes, which is the size of a part.
};

/// Splits a buffer into sets of whole boxes or, if it has only one box, into ranges of rows. Returns nullopt if the
/// buffer cannot be split in either way.
std::optional<TmaParts> splitTmaBoxes(const LinearLayout &buffer, unsigned elementBytes, unsigned parts);

} // namespace tile::layout
