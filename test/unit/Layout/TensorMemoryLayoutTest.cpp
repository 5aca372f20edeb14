// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which thread holds which element of an accumulator in tensor memory.
#include "Layout/TensorMemoryLayout.h"

#include <gtest/gtest.h>

using namespace tile::layout;

namespace {

std::vector<int32_t> at(const LinearLayout &layout, int64_t reg, int64_t lane, int64_t warp) {
  return layout.apply({{registerDim, reg}, {laneDim, lane}, {warpDim, warp}});
}

using Coordinate = std::vector<int32_t>;

} // namespace

TEST(TensorMemoryLayout, AThreadHasOneRowOf128) {
  LinearLayout layout = tensorMemoryLayout(128, 64, 4);
  EXPECT_FALSE(verifyDistributed(layout));
  EXPECT_TRUE(layout.isBijective());
  EXPECT_EQ(at(layout, 0, 5, 2), (Coordinate{69, 0}));
  EXPECT_EQ(at(layout, 63, 31, 3), (Coordinate{127, 63}));
}

TEST(TensorMemoryLayout, GroupsDivideBlocksOfRowsThenColumns) {
  LinearLayout columns = tensorMemoryLayout(128, 64, 8), rows = tensorMemoryLayout(256, 64, 8),
               both = tensorMemoryLayout(256, 64, 16);
  EXPECT_EQ(at(columns, 1, 0, 4), (Coordinate{0, 33}));
  EXPECT_EQ(at(rows, 1, 0, 4), (Coordinate{128, 1}));
  EXPECT_EQ(at(both, 1, 0, 4 + 8), (Coordinate{128, 33}));
  for (const LinearLayout &layout : {columns, rows, both})
    EXPECT_TRUE(layout.isBijective());
}

TEST(TensorMemoryLayout, FurtherRowsAreInFurtherRegisters) {
  EXPECT_EQ(at(tensorMemoryLayout(256, 32, 4), 32, 1, 1), (Coordinate{161, 0}));
}

// PTX ISA, `tcgen05.ld`, shape .16x256b: registers 0 and 1 are columns, 2 and 3 are 8 rows below.
TEST(TensorMemoryLayout, AQuarterOf64RowsHasSixteen) {
  LinearLayout layout = tensorMemoryLayout(64, 16, 4);
  EXPECT_TRUE(layout.isBijective());
  EXPECT_EQ(at(layout, 0, 5, 1), (Coordinate{17, 2}));
  EXPECT_EQ(at(layout, 3, 5, 1), (Coordinate{25, 3}));
  EXPECT_EQ(at(layout, 4, 5, 1), (Coordinate{17, 10}));
}

// PTX ISA, "Layout of the Scale Factor": row 32 i + l and groups 4 j to 4 j + 3 are in lane l, column i + j * rows
// / 32.
TEST(TensorMemoryLayout, scales) {
  for (auto [lines, groups] : {std::pair<int32_t, int32_t>(128, 4), {256, 8}, {64, 8}, {512, 16}}) {
    LinearLayout layout = scalesLayout(lines, groups);
    for (int32_t line = 0; line < lines; ++line)
      for (int32_t group = 0; group < groups; ++group) {
        int32_t column = line / 32 + group / 4 * (lines / 32), lane = line % 32;
        int32_t offset = column / 4 * 512 + lane * 16 + column % 4 * 4 + group % 4;
        EXPECT_EQ(layout.apply({{offsetDim, offset}}), (Coordinate{line, group})) << offset;
      }
  }
}
