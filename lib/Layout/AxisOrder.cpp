// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Layout/AxisOrder.h"
#include "Layout/ShapeTransforms.h"

#include <bit>

namespace tile::layout {

bool isInOrder(const LinearLayout &layout, unsigned axis) {
  int32_t seen = 0, lower = 0; // steps of all bits so far, and of the bits of the preceding input dimensions
  for (std::string_view dim : {registerDim, laneDim, warpDim}) {
    lower = seen;
    for (const std::vector<int32_t> &basis : layout.bases(dim)) {
      int32_t step = basis[axis];
      if (step == 0)
        continue;
      std::vector<int32_t> others = basis;
      others[axis] = 0;
      if (!std::has_single_bit(uint32_t(step)) || layout.flatten(others) != 0)
        return false;
      if (seen & step) // a broadcast bit
        continue;
      // Partial results of warps are numbered in the order of the warp bits.
      if (step <= lower || (dim == warpDim && step <= seen))
        return false;
      seen |= step;
    }
  }
  return true;
}

std::optional<LinearLayout> splitIntoRuns(const LinearLayout &layout, unsigned axis) {
  for (int64_t run = layout.outShape()[axis] / 2; run > 1; run /= 2) {
    std::vector<int64_t> shape = layout.outShape();
    shape[axis] /= run;
    shape.insert(shape.begin() + axis + 1, run);
    LinearLayout split = reshape(layout, shape);
    if (isInOrder(split, axis + 1) && isInOrder(removeDim(split, axis + 1), axis))
      return split;
  }
  return std::nullopt;
}

} // namespace tile::layout
