// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that with each shape change every thread keeps its elements, under their new coordinates.

#include "Layout/ShapeTransforms.h"

#include "Layout/MmaLayouts.h"
#include "RandomLayouts.h"

#include <gtest/gtest.h>

#include <set>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

LinearLayout randomLayout(RandomLayouts &random, unsigned rank) {
  return random.distributed(random.shape(rank, 8), 1, random.below(2), random.below(2) == 0);
}

/// The distinct elements that a thread holds.
std::set<std::vector<int32_t>> elementsOf(const LinearLayout &layout, int64_t lane, int64_t warp) {
  std::set<std::vector<int32_t>> result;
  for (int64_t index = 0; index < layout.numRegisters(); ++index)
    result.insert(at(layout, index, lane, warp));
  return result;
}

/// Slice by slice, each thread holds the elements of the tensor that it held before, in the registers that the slice
/// names, and the slices together have all of its registers.
void expectSlicesReassemble(const LinearLayout &layout, unsigned axis, int64_t size, const SlicedLayout &sliced) {
  int64_t slices = layout.outShape()[axis] / size;
  ASSERT_EQ(sliced.layout.outShape()[axis], size);
  ASSERT_EQ(sliced.layout.numRegisters() * slices, layout.numRegisters());
  std::set<int32_t> used;
  for (int64_t slice = 0; slice < slices; ++slice)
    forEachInput(sliced.layout, [&](int64_t index, int64_t lane, int64_t warp) {
      int32_t source = sliced.sourceRegister(int32_t(index), int32_t(slice));
      used.insert(source);
      std::vector<int32_t> element = at(sliced.layout, index, lane, warp);
      element[axis] += int32_t(slice * size);
      ASSERT_EQ(at(layout, source, lane, warp), element);
    });
  EXPECT_EQ(int64_t(used.size()), layout.numRegisters());
}

} // namespace

TEST(ShapeTransforms, RemoveDimKeepsTheProjectedElementsOfEachThread) {
  RandomLayouts random(21);
  for (int round = 0; round < 50; ++round) {
    LinearLayout layout = randomLayout(random, 3);
    unsigned axis = random.below(3);
    LinearLayout removed = removeDim(layout, axis);
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t warp = 0; warp < 2; ++warp) {
        std::set<std::vector<int32_t>> expected;
        for (std::vector<int32_t> coordinate : elementsOf(layout, lane, warp)) {
          coordinate.erase(coordinate.begin() + axis);
          expected.insert(coordinate);
        }
        EXPECT_EQ(elementsOf(removed, lane, warp), expected);
        EXPECT_EQ(static_cast<size_t>(removed.numRegisters()), expected.size()); // no duplicates
      }
    EXPECT_FALSE(verifyDistributed(removed));
  }
}

TEST(ShapeTransforms, RemovedRegistersAreFoundByTheConversionMap) {
  LinearLayout layout = LinearLayout::distributed({1, 2, 32, 64}, {4, 8, 16, 128, 0}, {}, {8, 32});
  LinearLayout projected = projectDim(layout, 1), removed = removeDim(layout, 1);
  EXPECT_EQ(removed.numRegisters(), 4);
  LinearLayout survivors = conversionMap(removed, projected);
  for (int64_t index = 0; index < 16; ++index)
    EXPECT_EQ(at(survivors, index, 3, 0), (std::vector<int32_t>{int32_t(index / 4), 3, 0}));
}

TEST(ShapeTransforms, FirstPartKeepsWhatEachThreadHoldsOfIt) {
  // Register bits 0, 2 and 3 step along axis 1; the last two lead beyond the first 8 columns.
  LinearLayout layout = LinearLayout::distributed({1, 32, 8, 16, 64}, {2, 4, 128, 256, 512}, {}, {32, 32});
  std::optional<LinearLayout> part = firstPart(layout, 1, 8);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->outShape(), (std::vector<int64_t>{32, 8}));
  EXPECT_EQ(part->numRegisters(), 8);
  for (int64_t lane = 0; lane < 32; ++lane) {
    std::set<std::vector<int32_t>> expected;
    for (const std::vector<int32_t> &coordinate : elementsOf(layout, lane, 0))
      if (coordinate[1] < 8)
        expected.insert(coordinate);
    EXPECT_EQ(elementsOf(*part, lane, 0), expected);
  }
  EXPECT_EQ(embed(*part, {32, 32}).flatBases(registerDim), (std::vector<uint64_t>{1, 32, 64}));
}

TEST(ShapeTransforms, negative_FirstPartNeedsRegistersThatLeadStraightBeyondIt) {
  // a lane bit leads to elements beyond the first part
  EXPECT_FALSE(firstPart(LinearLayout::distributed({1}, {2, 4, 8, 16, 32}, {}, {2, 32}), 1, 16));
  // The basis of a register is diagonal.
  EXPECT_FALSE(firstPart(LinearLayout::distributed({48}, {1, 2, 4, 8, 32}, {}, {2, 32}), 1, 16));
  EXPECT_FALSE(firstPart(LinearLayout::distributed({17}, {1, 2, 4, 8, 32}, {}, {2, 32}), 1, 16));
}

TEST(ShapeTransforms, SlicesOfAccumulatorsReassembleThem) {
  for (unsigned groupsM : {1u, 2u})
    for (unsigned groupsN : {1u, 2u})
      for (int64_t m = 64 * groupsM; m <= 128; m *= 2)
        for (int64_t n = 8; n <= 256; n *= 2)
          for (int64_t size = 1; size <= n; size *= 2) {
            int64_t groupN = std::max<int64_t>(n / groupsN, 8);
            LinearLayout layout = wgmmaAccumulator(m, n, {groupsM, groupsN, 16, unsigned(groupN)});
            std::optional<SlicedLayout> sliced = sliceDim(layout, 1, size);
            SCOPED_TRACE(testing::Message()
                         << m << " x " << n << ", " << groupsM << " x " << groupsN << " groups, " << size);
            // Proper slices have at least 8 columns, among which lane bits select, and are not split over warp groups.
            ASSERT_EQ(sliced.has_value(), size == n || (size >= 8 && n / groupsN >= 8 && groupsN == 1));
            if (sliced)
              expectSlicesReassemble(layout, 1, size, *sliced);
          }
}

TEST(ShapeTransforms, RandomSlicesReassembleTheTensorOrAreRefused) {
  RandomLayouts random(27);
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    LinearLayout layout = randomLayout(random, 2);
    unsigned axis = random.below(2);
    int64_t size = layout.outShape()[axis] >> random.below(3);
    if (size == 0)
      continue;
    if (std::optional<SlicedLayout> sliced = sliceDim(layout, axis, size)) {
      expectSlicesReassemble(layout, axis, size, *sliced);
      found += size != layout.outShape()[axis];
    }
  }
  EXPECT_GT(found, 20);
}

TEST(ShapeTransforms, negative_SlicesAreSelectedByRegistersAlone) {
  // A lane bit moves along the dimension.
  EXPECT_FALSE(sliceDim(LinearLayout::distributed({1}, {2, 4, 8, 16, 32}, {}, {2, 32}), 1, 16));
  // A warp bit moves along the dimension.
  EXPECT_FALSE(sliceDim(LinearLayout::distributed({16}, {1, 2, 4, 8, 0}, {32}, {2, 32}), 0, 1));
  // The basis of a register is diagonal.
  EXPECT_FALSE(sliceDim(LinearLayout::distributed({17}, {1, 2, 4, 8, 32}, {}, {2, 32}), 1, 16));
  // The registers are in another order.
  EXPECT_FALSE(sliceDim(LinearLayout::distributed({32, 16}, {1, 2, 4, 8, 64}, {}, {2, 64}), 1, 16));
}

TEST(ShapeTransforms, InsertUnitDimAddsAZeroCoordinate) {
  RandomLayouts random(22);
  for (unsigned axis = 0; axis <= 2; ++axis) {
    LinearLayout layout = randomLayout(random, 2), wider = insertUnitDim(layout, axis);
    forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
      std::vector<int32_t> expected = at(layout, index, lane, warp);
      expected.insert(expected.begin() + axis, 0);
      ASSERT_EQ(at(wider, index, lane, warp), expected);
    });
    EXPECT_EQ(removeDim(wider, axis), dropDuplicateRegisters(layout));
  }
}

TEST(ShapeTransforms, RepeatDimKeepsRepetitionsInTheThread) {
  RandomLayouts random(24);
  for (unsigned axis = 0; axis <= 2; ++axis) {
    LinearLayout layout = insertUnitDim(randomLayout(random, 2), axis), repeated = repeatDim(layout, axis, 4);
    EXPECT_EQ(repeated.outShape()[axis], 4);
    forEachInput(repeated, [&](int64_t index, int64_t lane, int64_t warp) {
      std::vector<int32_t> expected = at(layout, index % layout.numRegisters(), lane, warp);
      expected[axis] = static_cast<int32_t>(index / layout.numRegisters());
      ASSERT_EQ(at(repeated, index, lane, warp), expected);
    });
  }
}

TEST(ShapeTransforms, ReshapeKeepsTheRowMajorIndex) {
  RandomLayouts random(24);
  for (int round = 0; round < 20; ++round) {
    LinearLayout layout = randomLayout(random, 3), other = reshape(layout, random.shape(2, 8));
    EXPECT_EQ(reshape(other, layout.outShape()), layout);
    forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
      ASSERT_EQ(other.flatten(at(other, index, lane, warp)), layout.flatten(at(layout, index, lane, warp)));
    });
  }
}

TEST(ShapeTransforms, PermuteDimsMovesCoordinates) {
  RandomLayouts random(25);
  LinearLayout layout = randomLayout(random, 3), permuted = permuteDims(layout, {2, 0, 1});
  forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
    std::vector<int32_t> from = at(layout, index, lane, warp);
    ASSERT_EQ(at(permuted, index, lane, warp), (std::vector<int32_t>{from[2], from[0], from[1]}));
  });
  EXPECT_EQ(permuteDims(permuted, {1, 2, 0}), layout);
}

TEST(ShapeTransforms, JoinInterleavesRegisters) {
  RandomLayouts random(26);
  LinearLayout layout = randomLayout(random, 2), joined = joinLayout(layout);
  EXPECT_EQ(joined.outShape().back(), 2);
  forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
    for (int32_t which : {0, 1}) {
      std::vector<int32_t> expected = at(layout, index, lane, warp);
      expected.push_back(which);
      ASSERT_EQ(at(joined, 2 * index + which, lane, warp), expected);
    }
  });
}

TEST(ShapeTransforms, RegistersOfAPartHoldSomeElementOfIt) {
  RandomLayouts random(27);
  for (int round = 0; round < 20; ++round) {
    LinearLayout layout = randomLayout(random, 2);
    for (int64_t size = 1; size <= layout.outShape()[1]; ++size) {
      std::set<int64_t> expected;
      forEachInput(layout, [&](int64_t index, int64_t lane, int64_t warp) {
        if (at(layout, index, lane, warp)[1] < size)
          expected.insert(index);
      });
      std::vector<int32_t> found = registersOfPart(layout, 1, size);
      ASSERT_EQ(std::vector<int64_t>(found.begin(), found.end()),
                std::vector<int64_t>(expected.begin(), expected.end()));
    }
  }
}
