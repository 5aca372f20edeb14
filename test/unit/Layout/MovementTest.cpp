// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classification of conversions.

#include "Layout/Movement.h"

#include "Layout/Factories.h"
#include "Layout/MmaLayouts.h"
#include "RandomLayouts.h"

#include <gtest/gtest.h>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

LinearLayout layoutOf(std::vector<uint64_t> registers, std::vector<uint64_t> lanes, std::vector<uint64_t> warps) {
  return LinearLayout::distributed(std::move(registers), std::move(lanes), std::move(warps), {256});
}

const LinearLayout base = layoutOf({1, 2}, {4, 8, 16, 32, 64}, {128});

} // namespace

TEST(Movement, EqualLayoutsNeedNone) {
  Movement movement = planMovement(base, base);
  EXPECT_EQ(movement.kind, MovementKind::none);
  EXPECT_EQ(movement.registerSources, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Movement, RegistersAreRenamed) {
  Movement movement = planMovement(base, layoutOf({2, 1}, {4, 8, 16, 32, 64}, {128}));
  EXPECT_EQ(movement.kind, MovementKind::registers);
  EXPECT_EQ(movement.registerSources, (std::vector<int32_t>{0, 2, 1, 3}));
}

TEST(Movement, FewerOrMoreRegistersAreARenaming) {
  LinearLayout repeated = layoutOf({1, 2, 0}, {4, 8, 16, 32, 64}, {128});
  EXPECT_EQ(planMovement(base, repeated).registerSources, (std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(planMovement(base, repeated).kind, MovementKind::registers);
  EXPECT_EQ(planMovement(repeated, base).kind, MovementKind::registers);
}

TEST(Movement, CopiesMakeAConversionLocal) {
  // Every lane of src has all elements, so each thread of dst already has its elements.
  LinearLayout everywhere = LinearLayout::distributed({1}, {0, 0, 0, 0, 0}, {0}, {2});
  Movement movement = planMovement(everywhere, LinearLayout::distributed({1}, {0, 0, 0, 0, 0}, {0}, {2}));
  EXPECT_EQ(movement.kind, MovementKind::none);
  LinearLayout perLane = LinearLayout::distributed({}, {1, 0, 0, 0, 0}, {0}, {2});
  movement = planMovement(everywhere, perLane); // the lane selects one of two registers
  EXPECT_EQ(movement.kind, MovementKind::lanes);
  EXPECT_EQ(movement.shuffles, 2);
  movement = planMovement(perLane, everywhere);
  EXPECT_EQ(movement.kind, MovementKind::lanes);
  EXPECT_EQ(movement.shuffles, 2);
}

TEST(Movement, PermutedLanesAreShuffles) {
  Movement movement = planMovement(base, layoutOf({1, 2}, {8, 4, 16, 32, 64}, {128}));
  EXPECT_EQ(movement.kind, MovementKind::lanes);
  EXPECT_EQ(movement.shuffles, 4);
  EXPECT_FALSE(movement.crossesWarps);
}

TEST(Movement, ExchangeOfARegisterAndALaneTakesTwoShufflesARegister) {
  LinearLayout dst = layoutOf({4, 2}, {1, 8, 16, 32, 64}, {128});
  EXPECT_EQ(planMovement(base, dst).kind, MovementKind::lanes);
  EXPECT_EQ(planMovement(base, dst).shuffles, 8);
  EXPECT_EQ(planMovement(base, dst, 1).kind, MovementKind::shared);
}

TEST(Movement, ManyExchangesGoThroughSharedMemoryInsideTheWarp) {
  Movement movement = planMovement(base, layoutOf({4, 8}, {1, 2, 16, 32, 64}, {128}));
  EXPECT_EQ(movement.kind, MovementKind::shared);
  EXPECT_FALSE(movement.crossesWarps);
}

TEST(Movement, OtherWarpsNeedSharedMemory) {
  Movement movement = planMovement(base, layoutOf({1, 2}, {4, 8, 16, 32, 128}, {64}));
  EXPECT_EQ(movement.kind, MovementKind::shared);
  EXPECT_TRUE(movement.crossesWarps);
}

TEST(Movement, RegisterSourcesAreRightForRandomLayouts) {
  RandomLayouts random(61);
  int renamed = 0;
  for (int round = 0; round < 200; ++round) {
    LinearLayout src = random.distributed({64, 16}, 1, 0, true);
    std::vector<uint64_t> registers = src.flatBases(registerDim), mixed = registers;
    for (size_t index = 0; index < mixed.size(); ++index)
      mixed[index] ^= registers[random.below(static_cast<unsigned>(registers.size()))];
    LinearLayout dst = LinearLayout::distributed(mixed, src.flatBases(laneDim), src.flatBases(warpDim), src.outShape());
    Movement movement = planMovement(src, dst);
    ASSERT_LE(movement.kind, MovementKind::registers);
    renamed += movement.kind == MovementKind::registers;
    forEachInput(dst, [&](int64_t index, int64_t lane, int64_t warp) {
      ASSERT_EQ(at(src, movement.registerSources[index], lane, warp), at(dst, index, lane, warp));
    });
  }
  EXPECT_GT(renamed, 100);
}

TEST(Movement, BlockedToAccumulatorCrossesWarps) {
  EXPECT_EQ(planMovement(defaultBlocked({128, 128}, {1, 0}, 8, 4), mmaAccumulator(128, 128, {2, 2})).kind,
            MovementKind::shared);
}

TEST(Movement, PairsOfBytesMoveByShuffles) {
  // An accumulator of 64 columns, as fragments of 8-bit types: four bytes per register, from two lanes.
  LinearLayout accumulator = wgmmaAccumulator(64, 64, {.elementBits = 8, .instructionN = 64});
  LinearLayout fragments = wgmmaOperandA(64, 64, {.elementBits = 8, .instructionN = 64});
  EXPECT_TRUE(movesByShuffles(accumulator, fragments, 1));
  EXPECT_FALSE(movesByShuffles(accumulator, fragments, 2));
  EXPECT_FALSE(movesByShuffles(fragments, accumulator, 1)); // a lane has four of the bytes itself
  // The elements come from another warp.
  EXPECT_FALSE(movesByShuffles(defaultBlocked({64, 64}, {1, 0}, 8, 4), fragments, 1));
}

TEST(Movement, VectorsMoveByShuffles) {
  LinearLayout spread = layoutOf({1, 64, 128}, {2, 4, 8, 16, 32}, {0});
  LinearLayout columns = layoutOf({1, 8, 16, 32, 64, 128}, {2, 4, 0, 0, 0}, {0});
  EXPECT_TRUE(movesByShuffles(spread, columns, 2));
  EXPECT_TRUE(movesByShuffles(spread, columns, 4));
  EXPECT_FALSE(movesByShuffles(spread, columns, 8)); // a shuffle moves 32 bits
  EXPECT_FALSE(movesByShuffles(base, columns, 2));   // another warp has half of it
  EXPECT_FALSE(movesByShuffles(columns, columns, 2));
}
