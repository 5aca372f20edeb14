// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Machine/TensorMemory.h"

#include <algorithm>

namespace tile::sim {

/// The contents of columns before they are written: a conspicuous value, as in registers.
constexpr uint32_t garbageColumn = 0x7f7f7f7f;

std::optional<unsigned> TensorMemory::allocate(unsigned columns, unsigned warp, const SourceLoc &loc,
                                               const TensorMemory *other) {
  unsigned first = 0;
  for (unsigned end = 0; end < first + columns; ++end) {
    if (first + columns > tensorColumns)
      return std::nullopt;
    if (owned[end] || (other && other->owned[end]))
      first = end + 1;
  }
  take(first, columns, warp, loc);
  return first;
}

void TensorMemory::take(unsigned first, unsigned columns, unsigned warp, const SourceLoc &loc) {
  cells.resize(size_t(tensorLanes) * tensorColumns);
  std::fill_n(cells.begin() + first * tensorLanes, columns * tensorLanes, garbageColumn);
  std::fill_n(owned.begin() + first, columns, true);
  all.push_back({first, columns, warp, loc});
}

const TensorMemory::Allocation *TensorMemory::find(unsigned column) const {
  auto found = std::find_if(all.begin(), all.end(), [&](const Allocation &one) { return one.column == column; });
  return found == all.end() ? nullptr : &*found;
}

void TensorMemory::free(unsigned column) {
  const Allocation *allocation = find(column);
  if (!allocation)
    return;
  std::fill_n(owned.begin() + column, allocation->columns, false);
  all.erase(all.begin() + (allocation - all.data()));
}

} // namespace tile::sim
