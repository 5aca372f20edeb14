// How the last round's tiles are shared: owners and helpers finish together, and nothing is split in vain.
#include "Target/TailSplit.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

std::optional<int64_t> ownSteps(int64_t rest, int64_t steps, int64_t ctas = 132) {
  std::optional<TailShare> share = TailSplit(/*elements=*/128 * 256, /*blockK=*/64).share(rest, steps, ctas);
  return share ? std::optional(share->ownSteps) : std::nullopt;
}

} // namespace

TEST(TailSplit, equalParts) {
  EXPECT_EQ(ownSteps(66, 128), 64);
  EXPECT_EQ(ownSteps(52, 128), 64);
  EXPECT_EQ(ownSteps(40, 128), 43);
  EXPECT_EQ(ownSteps(8, 256), 64);
  EXPECT_EQ(ownSteps(1, 257), 65);
}

// More than half as many tiles as multiprocessors: a helper has about as many steps as an owner, and what its pieces
// cost.
TEST(TailSplit, helpersWithPiecesOfSeveralTiles) {
  TailSplit split(128 * 256, 64);
  for (int64_t rest : {67, 68, 80, 100})
    for (int64_t steps : {128, 448, 4000}) {
      std::optional<int64_t> own = ownSteps(rest, steps);
      ASSERT_TRUE(own) << rest << " tiles of " << steps;
      double helper = double(rest) * (steps - *own + split.piece) / (132 - rest);
      EXPECT_NEAR(helper, *own, 5) << rest << " tiles of " << steps;
    }
}

// More parts only where each saves more steps than its sum takes.
TEST(TailSplit, fewerPartsOfFewSteps) {
  EXPECT_EQ(ownSteps(8, 59), 20);
  EXPECT_EQ(ownSteps(8, 60), 15);
}

TEST(TailSplit, negative_doesNotPay) {
  EXPECT_EQ(ownSteps(116, 64), std::nullopt);
  EXPECT_EQ(ownSteps(131, 128), std::nullopt);
  EXPECT_EQ(ownSteps(8, 29), std::nullopt);
  EXPECT_EQ(ownSteps(66, 1), std::nullopt);
  EXPECT_EQ(ownSteps(1, 4, 2), std::nullopt);
}

TEST(TailSplit, negative_moreStepsThanItsNumbersHold) {
  EXPECT_TRUE(ownSteps(66, TailSplit::mostSteps - 1));
  EXPECT_FALSE(ownSteps(66, TailSplit::mostSteps));
}
