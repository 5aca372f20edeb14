// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests how the tiles of the last wave are shared: owners and helpers finish together, and nothing is split without a
// gain.
#include "Target/TailSplit.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const TailSplit large(/*elements=*/128 * 256, /*stepBytes=*/128);

std::optional<int64_t> ownSteps(int64_t tailTiles, int64_t steps, int64_t ctas = 132, int64_t waves = 1) {
  std::optional<TailShare> share = large.share(waves, tailTiles, steps, ctas);
  return share ? std::optional(share->ownSteps) : std::nullopt;
}

} // namespace

TEST(TailSplit, equalParts) {
  EXPECT_EQ(ownSteps(66, 128), 64);
  EXPECT_EQ(ownSteps(52, 128), 64);
  EXPECT_EQ(ownSteps(40, 128), 44); // each of two helpers computes 42
  EXPECT_EQ(ownSteps(8, 256), 64);
  EXPECT_EQ(ownSteps(1, 257), 65);
}

// More than half as many tiles as multiprocessors: a helper has about as many steps as an owner, minus the cost of its
// parts.
TEST(TailSplit, helpersWithPiecesOfSeveralTiles) {
  for (int64_t tailTiles : {67, 68, 80, 100})
    for (int64_t steps : {128, 448, 4000}) {
      std::optional<int64_t> own = ownSteps(tailTiles, steps);
      ASSERT_TRUE(own) << tailTiles << " tiles of " << steps;
      double helper = double(tailTiles) * (steps - *own + large.piece) / (132 - tailTiles);
      EXPECT_NEAR(helper, *own, 5) << tailTiles << " tiles of " << steps;
    }
}

// There are more parts only if each saves more steps than its reduction takes.
TEST(TailSplit, fewerPartsOfFewSteps) {
  EXPECT_EQ(ownSteps(8, 59), 21);
  EXPECT_EQ(ownSteps(8, 60), 15);
}

// In steps of 1024 clocks: 128 KiB at 30 bytes a clock, 1500 and 9000 clocks.
TEST(TailSplit, costs) {
  EXPECT_EQ(large.sum, 5);
  EXPECT_EQ(large.piece, 6);
  EXPECT_EQ(large.fixed, 9);
  EXPECT_EQ(large.share(1, 8, 256, 132)->lostSteps, 3 * 5 + 9);
  EXPECT_EQ(large.share(1, 100, 256, 132)->lostSteps, 5 + 9);
}

// Without a whole wave, a split must gain more.
TEST(TailSplit, onlyWave) {
  EXPECT_EQ(ownSteps(32, 96, 132, /*waves=*/0), std::nullopt);
  EXPECT_EQ(ownSteps(32, 100, 132, /*waves=*/0), 25);
}

TEST(TailSplit, negative_doesNotPay) {
  EXPECT_EQ(ownSteps(116, 64), std::nullopt);
  EXPECT_EQ(ownSteps(131, 128), std::nullopt);
  EXPECT_EQ(ownSteps(8, 29), std::nullopt);
  EXPECT_EQ(ownSteps(66, 1), std::nullopt);
  EXPECT_EQ(ownSteps(1, 4, 2), std::nullopt);
}

TEST(TailSplit, negative_moreStepsThanItsNumbersHold) {
  EXPECT_TRUE(ownSteps(66, TailSplit::maxSteps - 1));
  EXPECT_FALSE(ownSteps(66, TailSplit::maxSteps));
}
