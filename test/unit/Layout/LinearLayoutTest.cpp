// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Construction, the product, and the derived maps: exhaustive over inputs of small and random layouts.

#include "RandomLayouts.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

std::string errorOf(const std::vector<InDim> &inDims, const std::vector<int64_t> &shape) {
  std::string error;
  EXPECT_FALSE(LinearLayout::create(inDims, shape, &error));
  return error;
}

/// Returns `layout` with its bases mixed within threads, or within warps.
LinearLayout locallyMixed(RandomLayouts &random, const LinearLayout &layout, bool acrossLanes) {
  std::vector<uint64_t> registers = layout.flatBases(registerDim), lanes = layout.flatBases(laneDim),
                        warps = layout.flatBases(warpDim), local = registers;
  if (acrossLanes) {
    std::swap(lanes[random.below(laneBits)], lanes[random.below(laneBits)]);
    local.insert(local.end(), lanes.begin(), lanes.end());
  }
  for (std::vector<uint64_t> *bases : {&lanes, &warps})
    for (uint64_t &basis : *bases)
      if (!(local.empty() || (acrossLanes && bases == &lanes)))
        basis ^= local[random.below(static_cast<unsigned>(local.size()))];
  return LinearLayout::distributed(registers, lanes, warps, layout.outShape());
}

LinearLayout example() {
  return LinearLayout({{"register", {{0, 1}}}, {"lane", {{0, 2}, {0, 4}, {1, 0}, {2, 1}, {0, 0}}}, {"warp", {}}},
                      {4, 8});
}

} // namespace

TEST(LinearLayout, AppliesTheXorOfItsBases) {
  LinearLayout layout = example();
  EXPECT_EQ(at(layout, 1, 3, 0), (std::vector<int32_t>{0, 7}));
  EXPECT_EQ(at(layout, 1, 12, 0), (std::vector<int32_t>{3, 0}));
  EXPECT_EQ(layout.apply({}), (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(layout.bases("lane")[3], (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(layout.flatBases("lane")[3], 17u);
  EXPECT_EQ(layout.numRegisters(), 2);
  EXPECT_EQ(layout.numWarps(), 1);
  EXPECT_EQ(layout.inDimSizeLog2("lane"), 5u);
  EXPECT_EQ(layout.inDimSizeLog2("offset"), 0u);
  EXPECT_FALSE(layout.hasInDim("offset"));
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_FALSE(layout.isInjective());
  EXPECT_TRUE(layout.hasBroadcast("lane"));
  EXPECT_FALSE(layout.hasBroadcast("register"));
}

TEST(LinearLayout, FlatCoordinatesAreRowMajor) {
  LinearLayout layout = example();
  for (int32_t row = 0; row < 4; ++row)
    for (int32_t column = 0; column < 8; ++column) {
      EXPECT_EQ(layout.flatten({row, column}), static_cast<uint64_t>(row * 8 + column));
      EXPECT_EQ(layout.unflatten(row * 8 + column), (std::vector<int32_t>{row, column}));
    }
}

TEST(LinearLayout, RoundTripsThroughItsBases) {
  LinearLayout layout = example();
  EXPECT_EQ(LinearLayout(layout.inDims(), layout.outShape()), layout);
  EXPECT_EQ(LinearLayout(layout.inDims(), layout.outShape()).hash(), layout.hash());
}

TEST(LinearLayout, EqualityAndHashSeeEveryPart) {
  LinearLayout layout = example();
  std::vector<InDim> renamed = layout.inDims(), moved = layout.inDims(), changed = layout.inDims();
  renamed[2].name = "block";
  std::swap(moved[1], moved[2]);
  changed[0].bases[0] = {0, 3};
  // The same columns, split differently into input dimensions.
  std::vector<InDim> recut = layout.inDims();
  recut[2].bases.push_back(recut[1].bases.back());
  recut[1].bases.pop_back();
  std::vector<LinearLayout> others = {LinearLayout(recut, {4, 8}), LinearLayout(renamed, {4, 8}),
                                      LinearLayout(moved, {4, 8}), LinearLayout(changed, {4, 8}),
                                      LinearLayout(layout.inDims(), {8, 8})};
  for (const LinearLayout &other : others) {
    EXPECT_NE(other, layout);
    EXPECT_NE(other.hash(), layout.hash());
  }
}

TEST(LinearLayout, RankZeroHasOneElement) {
  LinearLayout layout = LinearLayout::distributed({}, {0, 0, 0, 0, 0}, {0}, {});
  EXPECT_EQ(layout.numElements(), 1);
  EXPECT_EQ(at(layout, 0, 31, 1), std::vector<int32_t>{});
  EXPECT_FALSE(verifyDistributed(layout));
}

TEST(LinearLayout, negative_CreateExplainsWhatIsWrong) {
  EXPECT_EQ(errorOf({}, {4, 3}), "dimension 1 of [4, 3] is 3, expected a power of two up to 2^30");
  EXPECT_EQ(errorOf({}, {0}), "dimension 0 of [0] is 0, expected a power of two up to 2^30");
  EXPECT_EQ(errorOf({}, {-8}), "dimension 0 of [-8] is -8, expected a power of two up to 2^30");
  EXPECT_EQ(errorOf({{"lane", {{1}}}}, {4, 4}), "basis 0 of 'lane' has 1 coordinates but the shape has 2 dimensions");
  EXPECT_EQ(errorOf({{"lane", {{1}, {4}}}}, {4}), "basis 1 of 'lane' has coordinate 4 in dimension 0, expected 0 to 3");
  EXPECT_EQ(errorOf({{"lane", {{-1}}}}, {4}), "basis 0 of 'lane' has coordinate -1 in dimension 0, expected 0 to 3");
  EXPECT_EQ(errorOf({{"lane", {}}, {"lane", {}}}, {4}), "input dimension 'lane' occurs twice");
  EXPECT_EQ(errorOf({}, {1 << 30, 1 << 30}), "shape [1073741824, 1073741824] has more than 2^48 elements");
  EXPECT_EQ(errorOf({{"lane", Bases(49, {0})}}, {4}), "layout has 49 input bits, expected at most 48");
}

TEST(LinearLayout, negative_VerifyDistributed) {
  LinearLayout holes = LinearLayout::distributed({}, {1, 2, 4, 8, 16}, {}, {64});
  EXPECT_EQ(verifyDistributed(holes), "layout covers 2^5 of the 2^6 elements of [64], expected all");
  EXPECT_TRUE(verifyDistributed(LinearLayout::shared({1, 2}, {4})));
  LinearLayout fourLanes({{"register", {}}, {"lane", {{1}, {2}}}, {"warp", {}}}, {4});
  EXPECT_EQ(verifyDistributed(fourLanes), "'lane' has 2 bases, expected 5");
  EXPECT_FALSE(verifyDistributed(example()));
}

TEST(LinearLayout, negative_VerifyShared) {
  EXPECT_FALSE(verifyShared(LinearLayout::shared({2, 1}, {4})));
  EXPECT_TRUE(verifyShared(LinearLayout::shared({1, 1}, {4})));
  EXPECT_TRUE(verifyShared(LinearLayout::shared({1, 2, 0}, {4})));
  EXPECT_TRUE(verifyShared(example()));
}

TEST(Algebra, ProductPutsTheSecondFactorOutside) {
  LinearLayout a({{"register", {{0, 1}}}, {"lane", {{1, 0}}}}, {2, 2}),
      b({{"lane", {{0, 1}}}, {"warp", {{1, 1}}}}, {2, 2});
  LinearLayout expected({{"register", {{0, 1}}}, {"lane", {{1, 0}, {0, 2}}}, {"warp", {{2, 2}}}}, {4, 4});
  EXPECT_EQ(a * b, expected);
}

TEST(ConversionMap, FindsTheSameElement) {
  RandomLayouts random(14);
  for (int round = 0; round < 100; ++round) {
    bool mixed = round % 2 == 0;
    std::vector<int64_t> shape = random.shape(2, 5 + random.below(5));
    LinearLayout src = random.distributed(shape, 2, random.below(3), mixed);
    LinearLayout dst = random.distributed(shape, 2, random.below(3), mixed);
    LinearLayout map = conversionMap(src, dst);
    forEachInput(dst, [&](int64_t index, int64_t lane, int64_t warp) {
      std::vector<int32_t> from = at(map, index, lane, warp);
      ASSERT_EQ(at(src, from[0], from[1], from[2]), at(dst, index, lane, warp));
    });
  }
}

TEST(ConversionMap, KeepsLanesAndWarpsWheneverAThreadOrWarpHasTheElement) {
  RandomLayouts random(15);
  int keptLanes = 0, keptWarps = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> shape = random.shape(1, 4 + random.below(3));
    LinearLayout src = random.distributed(shape, 1, 1 + random.below(3), round % 2 == 0);
    LinearLayout dst = round % 4 < 2 ? random.distributed(shape, 1, 1 + random.below(3), round % 2 == 0)
                                     : locallyMixed(random, src, /*acrossLanes=*/round % 4 == 2);
    // Enumerates whether every thread (warp) of dst finds its elements in the same thread (warp) of src.
    std::map<std::tuple<int64_t, int64_t, uint64_t>, bool> inThread;
    std::map<std::tuple<int64_t, uint64_t>, bool> inWarp;
    forEachInput(src, [&](int64_t index, int64_t lane, int64_t warp) {
      inThread[{lane, warp, flatAt(src, index, lane, warp)}] = inWarp[{warp, flatAt(src, index, lane, warp)}] = true;
    });
    LinearLayout map = conversionMap(src, dst);
    bool canKeepLanes = true, canKeepWarps = true, keepsLanes = true, keepsWarps = true;
    forEachInput(dst, [&](int64_t index, int64_t lane, int64_t warp) {
      uint64_t element = flatAt(dst, index, lane, warp);
      canKeepLanes &= inThread.count({lane, warp, element}) == 1;
      canKeepWarps &= inWarp.count({warp, element}) == 1;
      std::vector<int32_t> from = at(map, index, lane, warp);
      keepsLanes &= from[1] == lane && from[2] == warp;
      keepsWarps &= from[2] == warp;
    });
    EXPECT_EQ(keepsLanes, canKeepLanes);
    EXPECT_EQ(keepsWarps, canKeepWarps);
    keptLanes += keepsLanes;
    keptWarps += keepsWarps;
  }
  EXPECT_GT(keptLanes, 5); // all cases occur
  EXPECT_GT(keptWarps, keptLanes);
  EXPECT_LT(keptWarps, 395);
}

TEST(MemoryOffsets, PointAtTheElement) {
  RandomLayouts random(16);
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> shape = random.shape(2, 8);
    LinearLayout distributed = random.distributed(shape, 1, random.below(3), true), shared = random.shared(shape);
    LinearLayout offsets = memoryOffsets(distributed, shared);
    EXPECT_EQ(offsets.outShape(), std::vector<int64_t>{256});
    forEachInput(distributed, [&](int64_t index, int64_t lane, int64_t warp) {
      int32_t offset = at(offsets, index, lane, warp)[0];
      ASSERT_EQ(shared.apply({{offsetDim, offset}}), at(distributed, index, lane, warp));
    });
  }
}
