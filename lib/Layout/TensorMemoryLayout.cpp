// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements TensorMemoryLayout.h.
#include "Layout/TensorMemoryLayout.h"

#include "Layout/MmaLayouts.h"

namespace tile::layout {

/// Returns a layout with only the first `m` rows: threads that held other rows hold copies.
static LinearLayout repeatRows(const LinearLayout &layout, int64_t m) {
  const int64_t n = layout.outShape()[1];
  auto wrap = [&](std::string_view name) {
    std::vector<uint64_t> bases = layout.flatBases(name);
    for (uint64_t &basis : bases)
      basis &= uint64_t(m * n) - 1;
    return bases;
  };
  return LinearLayout::distributed(wrap(registerDim), wrap(laneDim), wrap(warpDim), {m, n});
}

LinearLayout tensorMemoryLayout(int64_t m, int64_t n, unsigned warps) {
  constexpr int64_t lanes = 128, minRows = 64, warpsPerGroup = 4;
  if (m < minRows)
    return repeatRows(tensorMemoryLayout(minRows, n, warps), m);
  const int64_t groups = warps / warpsPerGroup;
  if (m < lanes)
    return wgmmaAccumulator(
        m, n, {.groupsM = 1, .groupsN = unsigned(groups), .elementBits = 16, .instructionN = unsigned(n / groups)});
  const int64_t groupsM = std::min<int64_t>(groups, m / lanes), groupsN = groups / groupsM;
  std::vector<uint64_t> registers, ofLanes, ofWarps;
  for (int64_t column = 1; column < n / groupsN; column *= 2)
    registers.push_back(uint64_t(column));
  for (int64_t row = 1; row < lanesPerWarp; row *= 2)
    ofLanes.push_back(uint64_t(row * n));
  for (int64_t row = lanesPerWarp; row < lanes; row *= 2)
    ofWarps.push_back(uint64_t(row * n));
  // The highest bits of the row blocks select warp groups, so each group has consecutive rows.
  for (int64_t row = lanes; row < m / groupsM; row *= 2)
    registers.push_back(uint64_t(row * n));
  for (int64_t row = m / groupsM; row < m; row *= 2)
    ofWarps.push_back(uint64_t(row * n));
  for (int64_t column = n / groupsN; column < n; column *= 2)
    ofWarps.push_back(uint64_t(column));
  return LinearLayout::distributed(std::move(registers), std::move(ofLanes), std::move(ofWarps), {m, n});
}

LinearLayout scalesLayout(int64_t lines, int64_t groups) {
  constexpr int64_t columnGroups = 4, columnLines = 32;
  constexpr size_t columnBitsOfCopy = 2;
  std::vector<uint64_t> offsets, columns, lanes;
  for (int64_t group = 1; group < columnGroups; group *= 2)
    offsets.push_back(uint64_t(group));
  for (int64_t line = 1; line < columnLines; line *= 2)
    lanes.push_back(uint64_t(line * groups));
  for (int64_t line = columnLines; line < lines; line *= 2)
    columns.push_back(uint64_t(line * groups));
  for (int64_t group = columnGroups; group < groups; group *= 2)
    columns.push_back(uint64_t(group));
  auto ofCopy = columns.begin() + columnBitsOfCopy;
  offsets.insert(offsets.end(), columns.begin(), ofCopy);
  offsets.insert(offsets.end(), lanes.begin(), lanes.end());
  offsets.insert(offsets.end(), ofCopy, columns.end());
  return LinearLayout::shared(std::move(offsets), {lines, groups});
}

} // namespace tile::layout
