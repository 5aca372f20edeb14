// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Layout/PanelBuffer.h"

#include "Layout/SharedLayouts.h"

#include <algorithm>

namespace tile::layout {

LinearLayout panelBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
  LinearLayout buffer = bankConflictFree(src, dst, elementBytes);
  std::vector<uint64_t> offsets = buffer.flatBases(offsetDim);
  // An offset bit does not depend on the thread if lanes and warps only affect the other offset bits.
  Span reached;
  for (const LinearLayout *layout : {&src, &dst})
    for (std::string_view dim : {laneDim, warpDim})
      for (uint64_t basis : layout->flatBases(dim))
        reached.insert(basis);
  // The elements of one access of a thread must remain adjacent.
  constexpr unsigned widestBytes = 16;
  auto first = offsets.begin() + std::min<size_t>(offsets.size(), 1);
  for (unsigned bytes = 2 * elementBytes; bytes < widestBytes && first != offsets.end(); bytes *= 2)
    ++first;
  std::stable_partition(first, offsets.end(), [&](uint64_t basis) { return reached.contains(basis); });
  return LinearLayout::shared(std::move(offsets), src.outShape());
}

} // namespace tile::layout
