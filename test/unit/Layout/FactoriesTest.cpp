// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocked layouts against the division and remainder formulas that they replace.

#include "Layout/Factories.h"

#include "RandomLayouts.h"

#include <gtest/gtest.h>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

/// Digits of `index` in the mixed radix sizes[order[0]], sizes[order[1]], …
std::vector<int64_t> delinearize(int64_t index, const std::vector<int64_t> &sizes, const std::vector<unsigned> &order) {
  std::vector<int64_t> digits(sizes.size());
  for (unsigned axis : order) {
    digits[axis] = index % sizes[axis];
    index /= sizes[axis];
  }
  return digits;
}

} // namespace

TEST(Blocked, MatchesTheFormulaIfTheTensorIsATileOrMore) {
  BlockedTile tile{{2, 4}, {8, 4}, {2, 2}, {1, 0}};
  for (const std::vector<unsigned> &order : {std::vector<unsigned>{1, 0}, {0, 1}})
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{32, 32}, {64, 32}, {64, 128}}) {
      tile.order = order;
      LinearLayout layout = blocked(shape, tile);
      std::vector<int64_t> repeats = {shape[0] / 32, shape[1] / 32};
      ASSERT_EQ(layout.numRegisters(), 8 * repeats[0] * repeats[1]);
      forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
        std::vector<int64_t> element = delinearize(index % 8, tile.sizePerThread, order);
        std::vector<int64_t> thread = delinearize(lane, tile.threadsPerWarp, order);
        std::vector<int64_t> warps = delinearize(warp, tile.warpsPerCta, order);
        std::vector<int64_t> repeat = delinearize(index / 8, repeats, order);
        std::vector<int32_t> expected;
        for (int axis : {0, 1})
          expected.push_back(static_cast<int32_t>(
              element[axis] +
              tile.sizePerThread[axis] *
                  (thread[axis] + tile.threadsPerWarp[axis] * (warps[axis] + tile.warpsPerCta[axis] * repeat[axis]))));
        ASSERT_EQ(at(layout, index, lane, warp), expected);
      });
    }
}

TEST(Blocked, SmallTensorsAreCopied) {
  LinearLayout layout = blocked({4, 8}, {{1, 4}, {4, 8}, {4, 1}, {1, 0}});
  EXPECT_EQ(layout, LinearLayout::distributed({1, 2}, {4, 0, 0, 8, 16}, {0, 0}, {4, 8}));
}

TEST(Blocked, ThreadTileIsCutToTheTensor) {
  EXPECT_EQ(blocked({2}, {{8}, {32}, {1}, {0}}), LinearLayout::distributed({1}, {0, 0, 0, 0, 0}, {}, {2}));
}

TEST(DefaultBlocked, IsLegalForEveryShapeAndUsesTheVector) {
  for (int64_t rows = 1; rows <= 256; rows *= 2)
    for (int64_t columns = 1; columns <= 256; columns *= 2)
      for (int64_t warps : {1, 4, 8}) {
        LinearLayout layout = defaultBlocked({rows, columns}, {1, 0}, 8, warps);
        EXPECT_FALSE(verifyDistributed(layout)) << rows << "x" << columns;
        EXPECT_EQ(layout.numWarps(), warps);
        EXPECT_EQ(layout.numRegisters(), std::max<int64_t>(1, rows * columns / (32 * warps)));
      }
}

TEST(DefaultBlocked, LanesAreCoalescedAlongTheFastestDimension) {
  // 64 f16 in a row = 128 bytes = 8 lanes of 16 bytes; 4 rows per warp.
  EXPECT_EQ(defaultBlocked({128, 64}, {1, 0}, 8, 4), blocked({128, 64}, {{1, 8}, {4, 8}, {4, 1}, {1, 0}}));
  EXPECT_EQ(defaultBlocked({64, 128}, {0, 1}, 8, 4), blocked({64, 128}, {{8, 1}, {8, 4}, {1, 4}, {0, 1}}));
  EXPECT_EQ(defaultBlocked({1024}, {0}, 4, 4), blocked({1024}, {{4}, {32}, {4}, {0}}));
}

TEST(DefaultBlocked, SmallTensorsUseShorterVectorsBeforeIdleThreads) {
  EXPECT_EQ(defaultBlocked({256}, {0}, 8, 4).numRegisters(), 2);
  EXPECT_EQ(defaultBlocked({16}, {0}, 8, 4), LinearLayout::distributed({}, {1, 2, 4, 8, 0}, {0, 0}, {16}));
}

TEST(DefaultBlocked, RankZeroAndThree) {
  EXPECT_EQ(defaultBlocked({}, {}, 4, 4), LinearLayout::distributed({}, {0, 0, 0, 0, 0}, {0, 0}, {}));
  EXPECT_FALSE(verifyDistributed(defaultBlocked({4, 16, 64}, {2, 1, 0}, 4, 8)));
  EXPECT_EQ(rowMajorOrder(3), (std::vector<unsigned>{2, 1, 0}));
}

TEST(OuterProduct, HasAsManyRowsAsColumns) {
  auto lines = [](const LinearLayout &layout, unsigned axis) {
    std::vector<uint64_t> steps;
    for (const std::vector<int32_t> &basis : layout.bases(registerDim))
      steps.push_back(uint64_t(basis[axis]));
    return int64_t(1) << independentSubset(steps).size();
  };
  LinearLayout square = outerProduct({64, 64}, 4, 2);
  EXPECT_EQ(square.numRegisters(), 64);
  EXPECT_EQ(lines(square, 0), 8);
  EXPECT_EQ(lines(square, 1), 8);
  EXPECT_EQ(square.applyFlat(1), 1u); // neighbours in a row
  LinearLayout flat = outerProduct({16, 128}, 4, 4);
  EXPECT_EQ(lines(flat, 0) + lines(flat, 1), 8);
  // With fewer elements than threads, the layout is the default for any tensor.
  EXPECT_EQ(outerProduct({4, 4}, 4, 4), defaultBlocked({4, 4}, {1, 0}, 1, 4));
}
