// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Swizzles against the address formula of the hardware, and conflict-freedom by counting words in banks.

#include "Layout/SharedLayouts.h"
#include "Layout/ConversionBuffer.h"

#include "Layout/Factories.h"
#include "Layout/MmaLayouts.h"
#include "MemoryModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace tile::layout;
using namespace tile::layout::test;

TEST(UnswizzledShared, IsRowOrColumnMajor) {
  LinearLayout rows = unswizzledShared({4, 8}, {1, 0}), columns = unswizzledShared({4, 8}, {0, 1});
  for (int32_t offset = 0; offset < 32; ++offset) {
    EXPECT_EQ(rows.apply({{offsetDim, offset}}), (std::vector<int32_t>{offset / 8, offset % 8}));
    EXPECT_EQ(columns.apply({{offsetDim, offset}}), (std::vector<int32_t>{offset % 4, offset / 4}));
  }
  EXPECT_FALSE(verifyShared(unswizzledShared({}, {})));
}

TEST(SwizzledShared, MatchesTheAddressFormula) {
  for (unsigned elementBytes : {1u, 2u, 4u, 8u})
    for (unsigned swizzle : {32u, 64u, 128u})
      for (int64_t rows : {1, 2, 4, 32}) {
        int64_t panels = rows == 2 ? 1 : 2, panel = swizzle / elementBytes, columns = panel * panels;
        LinearLayout layout = swizzledShared({rows, columns}, elementBytes, {1, 0}, swizzle);
        ASSERT_FALSE(verifyShared(layout));
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            // Boxes and rows are consecutive; then bits [4, 4 + s) are XORed with bits [7, 7 + s).
            int64_t address = (column / panel * rows + row) * swizzle + column % panel * elementBytes;
            address ^= (address >> 7 & (swizzle / 16 - 1)) << 4;
            ASSERT_EQ(layout.apply({{offsetDim, address / elementBytes}}),
                      (std::vector<int32_t>{int32_t(row), int32_t(column)}));
          }
      }
}

TEST(SwizzledShared, ColumnMajorIsTheTranspose) {
  LinearLayout rows = swizzledShared({64, 32}, 2, {1, 0}, 64), columns = swizzledShared({32, 64}, 2, {0, 1}, 64);
  for (int32_t offset = 0; offset < 2048; ++offset) {
    std::vector<int32_t> cell = rows.apply({{offsetDim, offset}});
    EXPECT_EQ(columns.apply({{offsetDim, offset}}), (std::vector<int32_t>{cell[1], cell[0]}));
  }
}

TEST(SwizzledShared, OuterDimensionsSelectWholeBuffers) {
  LinearLayout one = swizzledShared({16, 128}, 2, {1, 0}, 128), many = swizzledShared({4, 16, 128}, 2, {2, 1, 0}, 128);
  for (int32_t offset = 0; offset < 4 * 2048; ++offset) {
    std::vector<int32_t> cell = one.apply({{offsetDim, offset % 2048}});
    EXPECT_EQ(many.apply({{offsetDim, offset}}), (std::vector<int32_t>{offset / 2048, cell[0], cell[1]}));
  }
}

TEST(ChooseSwizzle, IsTheWidestThatFits) {
  EXPECT_EQ(chooseSwizzle({128, 64}, 2, {1, 0}), 128u);
  EXPECT_EQ(chooseSwizzle({128, 256}, 2, {1, 0}), 128u);
  EXPECT_EQ(chooseSwizzle({128, 32}, 2, {1, 0}), 64u);
  EXPECT_EQ(chooseSwizzle({128, 32}, 2, {0, 1}), 128u);
  EXPECT_EQ(chooseSwizzle({128, 32}, 1, {1, 0}), 32u);
  EXPECT_EQ(chooseSwizzle({128, 8}, 2, {1, 0}), 0u);
  EXPECT_EQ(chooseSwizzle({}, 2, {}), 0u);
}

TEST(MatchSwizzle, RecognisesWhatTheFactoryMakes) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (const std::vector<unsigned> &order : {std::vector<unsigned>{1, 0}, {0, 1}}) {
      std::optional<SwizzleForm> form = matchSwizzle(swizzledShared({64, 128}, 2, order, swizzle), 2);
      ASSERT_TRUE(form);
      EXPECT_EQ(form->swizzleBytes, swizzle);
      EXPECT_EQ(form->order, order);
      EXPECT_EQ(form->panelElements, swizzle ? swizzle / 2 : order[0] == 1 ? 128 : 64);
    }
}

// For 8 rows of 32 bytes, swizzles of 32 and of 128 bytes are equal; TMA would give each of the latter 128 bytes.
TEST(MatchSwizzle, NoneIsWiderThanTheRows) {
  LinearLayout narrow = swizzledShared({8, 8}, 4, {1, 0}, 32);
  ASSERT_EQ(narrow, swizzledShared({8, 8}, 4, {1, 0}, 128));
  std::optional<SwizzleForm> form = matchSwizzle(narrow, 4);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->swizzleBytes, 32u);
}

// The layout of every order and swizzle is recognized; if several are equal, as the greatest order, then the first
// swizzle of the list.
TEST(MatchSwizzle, FindsTheGreatestOrder) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{16}, {1}, {8, 1}, {1, 128}, {16, 128}, {1, 64, 1}, {64, 1, 8}, {2, 4, 64}, {1, 1, 32, 2}})
    for (unsigned bytes : {1u, 2u, 4u}) {
      std::vector<std::pair<LinearLayout, SwizzleForm>> forms; // in the order of preference
      std::vector<unsigned> order(shape.size());
      std::iota(order.rbegin(), order.rend(), 0u);
      do
        for (unsigned swizzle : {0u, 128u, 64u, 32u})
          if (swizzle == 0 || shape[order[0]] * bytes >= swizzle)
            forms.push_back({swizzledShared(shape, bytes, order, swizzle), SwizzleForm{order, swizzle, 0}});
      while (std::prev_permutation(order.begin(), order.end()));
      for (auto &[layout, form] : forms) {
        auto first = std::find_if(forms.begin(), forms.end(), [&](auto &other) { return other.first == layout; });
        std::optional<SwizzleForm> found = matchSwizzle(layout, bytes);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->order, first->second.order);
        EXPECT_EQ(found->swizzleBytes, first->second.swizzleBytes);
      }
    }
}

// This rank has too many orders to try all of them.
TEST(MatchSwizzle, TakesManyDimensions) {
  std::vector<int64_t> shape(16, 2);
  std::vector<unsigned> order(16);
  std::iota(order.begin(), order.end(), 0u);
  std::swap(order[3], order[11]);
  std::optional<SwizzleForm> form = matchSwizzle(unswizzledShared(shape, order), 4);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->order, order);
  std::vector<uint64_t> bases = unswizzledShared(shape, order).flatBases(offsetDim);
  bases[15] ^= bases[0];
  EXPECT_FALSE(matchSwizzle(LinearLayout::shared(bases, shape), 4));
}

TEST(MatchSwizzle, negative_OtherPermutations) {
  EXPECT_FALSE(matchSwizzle(LinearLayout::shared({2, 1, 4, 8}, {4, 4}), 2));
  EXPECT_FALSE(matchSwizzle(LinearLayout::shared({1, 2}, {8}), 2));
  EXPECT_FALSE(matchSwizzle(LinearLayout::shared({5, 10, 4, 8}, {4, 4}), 2)); // dimension 1 never moves first
}

TEST(SwizzledShared, SixteenByteStoresDoNotConflict) {
  for (unsigned elementBytes : {1u, 2u, 4u})
    for (unsigned swizzle : {32u, 64u, 128u}) {
      int64_t columns = swizzle / elementBytes;
      LinearLayout threads = defaultBlocked({128, columns}, {1, 0}, 16 / elementBytes, 4);
      LinearLayout shared = swizzledShared({128, columns}, elementBytes, {1, 0}, swizzle);
      VectorAccess access = planVectorAccess(memoryOffsets(threads, shared), elementBytes);
      EXPECT_EQ(access.elements * elementBytes, 16u);
      EXPECT_EQ(worstConflicts(access, elementBytes), 0);
    }
}

TEST(BankConflictFree, RoundTripsDoNotConflict) {
  RandomLayouts random(41);
  for (int round = 0; round < 300; ++round) {
    unsigned elementBytes = 1u << random.below(4);
    std::vector<int64_t> shape = random.shape(2, 7 + random.below(6));
    bool mixed = round % 2 == 0;
    LinearLayout src = random.distributed(shape, random.below(3), random.below(3), mixed);
    LinearLayout dst = random.distributed(shape, random.below(3), random.below(3), mixed);
    LinearLayout shared = bankConflictFree(src, dst, elementBytes);
    ASSERT_FALSE(verifyShared(shared));
    VectorAccess write = planVectorAccess(memoryOffsets(src, shared), elementBytes);
    VectorAccess read = planVectorAccess(memoryOffsets(dst, shared), elementBytes);
    // Each side may support a wider vector than both together; the buffer is made for the common width.
    unsigned bytes = std::min(write.elements, read.elements) * elementBytes;
    write = planVectorAccess(memoryOffsets(src, shared), elementBytes, bytes);
    read = planVectorAccess(memoryOffsets(dst, shared), elementBytes, bytes);
    EXPECT_EQ(worstConflicts(write, elementBytes), 0) << "round " << round;
    EXPECT_EQ(worstConflicts(read, elementBytes), 0) << "round " << round;
  }
}

TEST(BankConflictFree, UsesTheVectorsThatBothSidesHave) {
  std::vector<int64_t> shape = {64, 64};
  LinearLayout rows = defaultBlocked(shape, {1, 0}, 8, 4), columns = defaultBlocked(shape, {0, 1}, 8, 4);
  LinearLayout accumulator = mmaAccumulator(64, 64, {4, 1});
  auto common = [&](const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
    LinearLayout shared = bankConflictFree(src, dst, elementBytes);
    return std::min(planVectorAccess(memoryOffsets(src, shared), elementBytes).elements,
                    planVectorAccess(memoryOffsets(dst, shared), elementBytes).elements);
  };
  EXPECT_EQ(common(accumulator, rows, 2), 2u); // the accumulator has two neighbours in a row
  EXPECT_EQ(common(accumulator, rows, 4), 2u);
  EXPECT_EQ(common(rows, columns, 2), 1u);
  EXPECT_EQ(common(rows, rows, 2), 8u);
  // 16 columns per thread on both sides, but different lanes: the limit is 16 bytes.
  LinearLayout wide = blocked(shape, {{1, 16}, {32, 1}, {2, 2}, {1, 0}});
  LinearLayout other = blocked(shape, {{1, 16}, {8, 4}, {4, 1}, {1, 0}});
  EXPECT_EQ(common(wide, other, 2), 8u);
  EXPECT_EQ(common(wide, other, 1), 16u);
}

TEST(BankConflictFree, SmallTensors) {
  for (int64_t size : {1, 2, 8, 32}) {
    LinearLayout layout = defaultBlocked({size}, {0}, 4, 4);
    EXPECT_FALSE(verifyShared(bankConflictFree(layout, layout, 4)));
  }
  LinearLayout scalar = defaultBlocked({}, {}, 4, 4);
  EXPECT_FALSE(verifyShared(bankConflictFree(scalar, scalar, 4)));
}

TEST(ConversionBuffer, KeepsRowsOfWhichLdmatrixMakesFragments) {
  std::vector<int64_t> shape = {64, 64};
  LinearLayout rows = defaultBlocked(shape, {1, 0}, 8, 2), columns = defaultBlocked(shape, {0, 1}, 8, 2);
  LinearLayout a = mmaOperandA(64, 64, {2, 1}), b = mmaOperandB(64, 64, {1, 2});
  for (const LinearLayout &src : {rows, columns})
    for (const LinearLayout &dst : {a, b}) {
      LinearLayout buffer = conversionBuffer(src, dst, 2);
      ASSERT_FALSE(verifyShared(buffer));
      VectorAccess write = planVectorAccess(memoryOffsets(src, buffer), 2);
      EXPECT_EQ(write.elements, 8u);
      EXPECT_EQ(worstConflicts(write, 2), 0);
      std::optional<MatrixAccess> read = planLdmatrix(dst, buffer, 2);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->matrices, 4u);
    }
}

TEST(ConversionBuffer, KeepsRowsForFragmentsThatStmatrixStores) {
  std::vector<int64_t> shape = {64, 64};
  LinearLayout buffer = conversionBuffer(mmaOperandA(64, 64, {2, 1}), defaultBlocked(shape, {1, 0}, 8, 2), 2);
  ASSERT_FALSE(verifyShared(buffer));
  VectorAccess read = planVectorAccess(memoryOffsets(defaultBlocked(shape, {1, 0}, 8, 2), buffer), 2);
  EXPECT_EQ(read.elements, 8u);
  EXPECT_EQ(worstConflicts(read, 2), 0);
  std::optional<MatrixAccess> write = planLdmatrix(mmaOperandA(64, 64, {2, 1}), buffer, 2);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->matrices, 4u);
}

TEST(ConversionBuffer, negative_OtherwiseTakesCommonVectors) {
  std::vector<int64_t> shape = {64, 64};
  LinearLayout rows = defaultBlocked(shape, {1, 0}, 8, 2), narrow = defaultBlocked(shape, {1, 0}, 2, 2);
  LinearLayout b = mmaOperandB(64, 64, {1, 2});
  // no thread has 16 contiguous bytes of a row
  EXPECT_EQ(conversionBuffer(narrow, b, 2), bankConflictFree(narrow, b, 2));
  LinearLayout columns = defaultBlocked(shape, {0, 1}, 8, 2);
  // Neither layout is of MMA fragments.
  EXPECT_EQ(conversionBuffer(rows, columns, 2), bankConflictFree(rows, columns, 2));
}

TEST(ConversionBuffer, GivesTheThreadsWithMoreElementsTheirVectors) {
  // A vector with four adjacent elements per lane, each quarter of which is held by another group of eight adjacent
  // threads.
  LinearLayout src = defaultBlocked({128}, {0}, 4, 1);
  LinearLayout dst({{std::string(registerDim), {{4}, {8}, {16}, {32}, {64}}},
                    {std::string(laneDim), {{0}, {0}, {0}, {1}, {2}}},
                    {std::string(warpDim), {}}},
                   {128});
  LinearLayout buffer = conversionBuffer(src, dst, 2);
  ASSERT_FALSE(verifyShared(buffer));
  VectorAccess read = planVectorAccess(memoryOffsets(dst, buffer), 2);
  EXPECT_EQ(read.elements, 8u);
  EXPECT_EQ(worstConflicts(read, 2), 0);
}

TEST(UsedExtent, IsTheEndOfTheLastElement) {
  // Rows are consecutive, in groups that a swizzle mixes.
  EXPECT_EQ(usedExtent(unswizzledShared({32, 8}, {1, 0}), {24, 8}), std::optional<int64_t>(24 * 8));
  EXPECT_EQ(usedExtent(unswizzledShared({32, 8}, {1, 0}), {17, 8}), std::optional<int64_t>(17 * 8));
  EXPECT_EQ(usedExtent(swizzledShared({32, 64}, 2, {1, 0}, 128), {17, 64}), std::optional<int64_t>(24 * 64));
  EXPECT_EQ(usedExtent(swizzledShared({32, 64}, 2, {1, 0}, 128), {32, 64}), std::optional<int64_t>(32 * 64));
  // Panels of 64 columns.
  EXPECT_EQ(usedExtent(swizzledShared({16, 256}, 2, {1, 0}, 128), {16, 160}), std::optional<int64_t>(16 * 192));
}

TEST(UsedExtent, negative_OtherDimensionsAreInBetween) {
  EXPECT_FALSE(usedExtent(unswizzledShared({32, 8}, {0, 1}), {24, 8}));
  EXPECT_FALSE(usedExtent(unswizzledShared({32, 8}, {1, 0}), {24, 6}));
  EXPECT_FALSE(usedExtent(unswizzledShared({32, 8}, {1, 0}), {64, 8}));
  EXPECT_FALSE(usedExtent(swizzledShared({256, 128}, 2, {1, 0}, 128), {160, 128})); // a second panel follows
}
