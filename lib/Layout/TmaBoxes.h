// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How TMA fills or empties a buffer: the boxes of its instructions.
//
// A tensor map says one box shape and one swizzle. Its box is a panel of the buffer (SharedLayouts.h), cut where a
// dimension has more than 256 elements:
//
//   [128, 128] f16, 128-byte swizzle:  box [128, 64], two of them:  coordinates (0, 0) at byte 0, (0, 64) at byte 16384
//
// Limits: CUDA driver API, cuTensorMapEncodeTiled.
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

struct TmaBoxes {
  std::vector<int64_t> shape; ///< Of one box, outermost dimension first.
  int64_t restColumns = 0;    ///< Of the boxes in the last panel, which are narrower; 0: they are like the others.
  unsigned swizzleBytes = 0;  ///< 0, 32, 64 or 128.
  struct Place {
    std::vector<int64_t> coordinates; ///< Of the box's first element in the buffer.
    int64_t byteOffset = 0;           ///< Of the box in the buffer.
    bool isRest = false;              ///< It has `restColumns`, and so is copied through another tensor map.
    bool operator==(const Place &) const = default;
  };
  std::vector<Place> places;
};

/// None if the buffer is not what TMA writes: of rank 1 or 2, rows of at least 16 bytes one after the other, with or
/// without a swizzle.
/// Boxes fill `shape`, the buffer's if it is smaller than the layout's (empty: the same). A row of a box with fewer
/// columns than a panel still takes a whole row of the swizzle (CUDA Programming Guide, "Shared memory swizzle"; so
/// measured).
std::optional<TmaBoxes> planTmaBoxes(const LinearLayout &buffer, unsigned elementBytes,
                                     const std::vector<int64_t> &shape = {});

/// Equal parts of a buffer that are copied one by one: those of the first, and how far each next one is from it.
struct TmaParts {
  TmaBoxes boxes;
  std::vector<int64_t> coordinates; ///< From one part to the next.
  int64_t bytes = 0;                ///< Likewise; a part's bytes.
};

/// Whole boxes, or rows of the only one. None if the buffer cannot be so divided.
std::optional<TmaParts> splitTmaBoxes(const LinearLayout &buffer, unsigned elementBytes, unsigned parts);

} // namespace tile::layout
