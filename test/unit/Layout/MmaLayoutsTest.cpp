// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments, element by element, against the formulas printed in the PTX ISA (section "Matrix multiply-accumulate
// operation using mma instruction", fragment tables of m16n8k*; and the register fragments of wgmma).

#include "Layout/MmaLayouts.h"

#include "Layout/Movement.h"
#include "RandomLayouts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

struct Cell {
  int64_t row, column;
};

struct FragmentCase {
  const char *name;
  unsigned elementBits, k;
  int64_t sizeA, sizeB;
  /// The tables: element i of lane (group = lane / 4, thread = lane % 4).
  Cell (*a)(int64_t i, int64_t group, int64_t thread);
  Cell (*b)(int64_t i, int64_t group, int64_t thread);
};

// Row and column formulas copied from the PTX ISA, one shape after the other.
const FragmentCase fragmentCases[] = {
    {"m16n8k8_f16", 16, 8, 4, 2,
     [](int64_t i, int64_t group, int64_t thread) { return Cell{i < 2 ? group : group + 8, thread * 2 + (i & 1)}; },
     [](int64_t i, int64_t group, int64_t thread) { return Cell{thread * 2 + i, group}; }},
    {"m16n8k16_f16", 16, 16, 8, 4,
     [](int64_t i, int64_t group, int64_t thread) {
       bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
       return Cell{upper ? group : group + 8, i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8};
     },
     [](int64_t i, int64_t group, int64_t thread) {
       return Cell{i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8, group};
     }},
    {"m16n8k4_tf32", 32, 4, 2, 1,
     [](int64_t i, int64_t group, int64_t thread) { return Cell{i == 0 ? group : group + 8, thread}; },
     [](int64_t, int64_t group, int64_t thread) { return Cell{thread, group}; }},
    {"m16n8k8_tf32", 32, 8, 4, 2,
     [](int64_t i, int64_t group, int64_t thread) {
       return Cell{i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
     },
     [](int64_t i, int64_t group, int64_t thread) { return Cell{i == 0 ? thread : thread + 4, group}; }},
    {"m16n8k16_s8", 8, 16, 8, 4,
     [](int64_t i, int64_t group, int64_t thread) { return Cell{i < 4 ? group : group + 8, thread * 4 + (i & 3)}; },
     [](int64_t i, int64_t group, int64_t thread) { return Cell{thread * 4 + i, group}; }},
    {"m16n8k32_s8", 8, 32, 16, 8,
     [](int64_t i, int64_t group, int64_t thread) {
       bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
       return Cell{upper ? group : group + 8, i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16};
     },
     [](int64_t i, int64_t group, int64_t thread) {
       return Cell{i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16, group};
     }},
};

class MmaFragment : public testing::TestWithParam<FragmentCase> {};

std::vector<int32_t> toCoordinate(Cell cell) {
  return {int32_t(cell.row), int32_t(cell.column)};
}

} // namespace

TEST_P(MmaFragment, OperandsOfOneInstruction) {
  const FragmentCase &shape = GetParam();
  MmaTiling tiling{1, 1, shape.elementBits, shape.k};
  LinearLayout a = mmaOperandA(16, shape.k, tiling), b = mmaOperandB(shape.k, 8, tiling);
  ASSERT_EQ(a.numRegisters(), shape.sizeA);
  ASSERT_EQ(b.numRegisters(), shape.sizeB);
  forEachInput(a, [&](int64_t i, int64_t lane, int64_t warp) {
    ASSERT_EQ(at(a, i, lane, warp), toCoordinate(shape.a(i, lane / 4, lane % 4)));
  });
  forEachInput(b, [&](int64_t i, int64_t lane, int64_t warp) {
    ASSERT_EQ(at(b, i, lane, warp), toCoordinate(shape.b(i, lane / 4, lane % 4)));
  });
}

// Executes all instructions of every warp on coordinates: each element of D must get each k exactly once, with the
// operands of its row and column, in the lanes where the PTX tables expect them.
TEST_P(MmaFragment, TiledOperandsAndAccumulatorFitTogether) {
  const FragmentCase &shape = GetParam();
  const int64_t m = 64, n = 32, k = 4 * shape.k;
  MmaTiling tiling{2, 4, shape.elementBits, shape.k};
  LinearLayout a = mmaOperandA(m, k, tiling), b = mmaOperandB(k, n, tiling), d = mmaAccumulator(m, n, tiling);
  for (const LinearLayout *layout : {&a, &b, &d}) {
    EXPECT_FALSE(verifyDistributed(*layout));
    EXPECT_EQ(layout->numWarps(), 8);
  }
  MmaFragments fragments = mmaFragments(m, n, k, tiling);
  EXPECT_EQ(fragments.mTiles, 2);
  EXPECT_EQ(fragments.nTiles, 1);
  EXPECT_EQ(fragments.kTiles, 4);
  EXPECT_EQ(fragments.mTiles * fragments.kTiles * shape.sizeA, a.numRegisters());
  EXPECT_EQ(fragments.nTiles * fragments.kTiles * shape.sizeB, b.numRegisters());
  EXPECT_EQ(fragments.mTiles * fragments.nTiles * 4, d.numRegisters());
  for (int64_t warp = 0; warp < 8; ++warp)
    for (int64_t mTile = 0; mTile < fragments.mTiles; ++mTile)
      for (int64_t nTile = 0; nTile < fragments.nTiles; ++nTile)
        for (int64_t kTile = 0; kTile < fragments.kTiles; ++kTile) {
          RegisterRange rangeA = fragments.a(mTile, kTile), rangeB = fragments.b(nTile, kTile),
                        rangeD = fragments.accumulator(mTile, nTile);
          ASSERT_EQ(rangeA.count, shape.sizeA);
          ASSERT_EQ(rangeB.count, shape.sizeB);
          std::vector<int32_t> originA = at(a, rangeA.first, 0, warp), originB = at(b, rangeB.first, 0, warp);
          EXPECT_EQ(originA[1], kTile * shape.k);
          EXPECT_EQ(originB[0], kTile * shape.k);
          for (int64_t lane = 0; lane < 32; ++lane) {
            for (int64_t i = 0; i < rangeA.count; ++i) {
              Cell cell = shape.a(i, lane / 4, lane % 4);
              ASSERT_EQ(at(a, rangeA.first + i, lane, warp),
                        toCoordinate({originA[0] + cell.row, originA[1] + cell.column}));
            }
            for (int64_t i = 0; i < rangeB.count; ++i) {
              Cell cell = shape.b(i, lane / 4, lane % 4);
              ASSERT_EQ(at(b, rangeB.first + i, lane, warp),
                        toCoordinate({originB[0] + cell.row, originB[1] + cell.column}));
            }
            for (int64_t i = 0; i < 4; ++i)
              ASSERT_EQ(at(d, rangeD.first + i, lane, warp),
                        toCoordinate({originA[0] + lane / 4 + (i < 2 ? 0 : 8), originB[1] + lane % 4 * 2 + (i & 1)}));
          }
        }
}

// With more consecutive k per lane, both operands hold k in another order, which is the same for elements that an
// instruction multiplies.
TEST_P(MmaFragment, OperandsOfWiderLanesAgree) {
  const FragmentCase &shape = GetParam();
  const int64_t m = 32, n = 16, k = 4 * shape.k;
  const MmaTiling narrow{2, 2, shape.elementBits, shape.k};
  for (MmaTiling wide = narrow; 4 * wide.kWidth <= k; wide.kWidth *= 2) {
    LinearLayout a = mmaOperandA(m, k, wide), b = mmaOperandB(k, n, wide), tableA = mmaOperandA(m, k, narrow),
                 tableB = mmaOperandB(k, n, narrow);
    std::map<int32_t, int32_t> places; // positions along k according to the tables
    forEachInput(a, [&](int64_t index, int64_t lane, int64_t warp) {
      std::vector<int32_t> cell = at(a, index, lane, warp), table = at(tableA, index, lane, warp);
      ASSERT_EQ(cell[0], table[0]);
      ASSERT_EQ(places.try_emplace(table[1], cell[1]).first->second, cell[1]);
      // A lane holds runs of kWidth: lanes 0, 1, 2, 3 one after another.
      ASSERT_EQ(cell[1] / wide.kWidth % 4, lane % 4);
    });
    std::set<int32_t> all;
    for (auto [table, place] : places)
      all.insert(place);
    EXPECT_EQ(int64_t(all.size()), k);
    forEachInput(b, [&](int64_t index, int64_t lane, int64_t warp) {
      std::vector<int32_t> cell = at(b, index, lane, warp), table = at(tableB, index, lane, warp);
      ASSERT_EQ(cell, (std::vector<int32_t>{places.at(table[0]), table[1]}));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(PtxTables, MmaFragment, testing::ValuesIn(fragmentCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(MmaLayouts, WarpsOwnContiguousBlocks) {
  LinearLayout d = mmaAccumulator(128, 64, {4, 2});
  forEachInput(d, [&](int64_t index, int64_t lane, int64_t warp) {
    std::vector<int32_t> cell = at(d, index, lane, warp);
    ASSERT_EQ(cell[0] / 32, warp % 4);
    ASSERT_EQ(cell[1] / 32, warp / 4);
  });
}

TEST(MmaLayouts, OperandsAreSharedAlongTheWarpGrid) {
  EXPECT_EQ(mmaOperandA(64, 16, {2, 2}).flatBases(warpDim), (std::vector<uint64_t>{32 * 16, 0}));
  EXPECT_EQ(mmaOperandB(16, 64, {2, 2}).flatBases(warpDim), (std::vector<uint64_t>{0, 32}));
}

TEST(MmaLayouts, TilesSmallerThanTheInstructionOrTheGridAreCopies) {
  MmaTiling tiling{4, 2};
  LinearLayout d = mmaAccumulator(1, 4, tiling);
  EXPECT_FALSE(verifyDistributed(d));
  EXPECT_EQ(d, LinearLayout::distributed({1, 0}, {2, 0, 0, 0, 0}, {0, 0, 0}, {1, 4}));
  EXPECT_FALSE(verifyDistributed(mmaOperandA(1, 16, tiling)));
  EXPECT_FALSE(verifyDistributed(mmaOperandB(16, 4, tiling)));
  // 32 rows are two tiles, so each of them is held twice by four warps along M.
  EXPECT_EQ(mmaAccumulator(32, 16, tiling).flatBases(warpDim), (std::vector<uint64_t>{16 * 16, 0, 8}));
  MmaFragments fragments = mmaFragments(1, 4, 16, tiling);
  EXPECT_EQ(fragments.mTiles * fragments.nTiles * fragments.kTiles, 1);
  EXPECT_EQ(mmaOperandA(1, 16, tiling).numRegisters(), fragments.sizeA);
}

TEST(MmaLayouts, AccumulatorBecomesTheNextOperandWithoutLeavingTheThread) {
  LinearLayout d = mmaAccumulator(64, 32, {4, 1}), a = mmaOperandA(64, 32, {4, 1});
  EXPECT_EQ(planMovement(d, a).kind, MovementKind::none); // one 16-column block of D is one fragment of A
  LinearLayout tall = mmaAccumulator(128, 32, {4, 1});
  EXPECT_EQ(planMovement(tall, mmaOperandA(128, 32, {4, 1})).kind, MovementKind::none);
}

TEST(WgmmaLayouts, AccumulatorMatchesThePtxTable) {
  for (int64_t n : {8, 64, 256}) {
    LinearLayout d = wgmmaAccumulator(64, n, {1, 1, 16, static_cast<unsigned>(n)});
    ASSERT_EQ(d.numRegisters(), n / 2);
    forEachInput(d, [&](int64_t i, int64_t lane, int64_t warp) {
      ASSERT_EQ(at(d, i, lane, warp),
                toCoordinate({16 * warp + lane / 4 + 8 * ((i % 4) / 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2}));
    });
  }
}

TEST(WgmmaLayouts, OperandAMatchesThePtxTables) {
  for (const FragmentCase &shape : fragmentCases) {
    if (shape.k * shape.elementBits != 256)
      continue;
    LinearLayout a = wgmmaOperandA(64, shape.k, {1, 1, shape.elementBits, 64});
    ASSERT_EQ(a.numRegisters(), shape.sizeA);
    forEachInput(a, [&](int64_t i, int64_t lane, int64_t warp) {
      Cell cell = shape.a(i, lane / 4, lane % 4);
      ASSERT_EQ(at(a, i, lane, warp), toCoordinate({16 * warp + cell.row, cell.column}));
    });
  }
}

TEST(WgmmaLayouts, GroupsTileTheTensor) {
  WgmmaTiling tiling{2, 2, 16, 32};
  const int64_t m = 256, n = 128, k = 64;
  LinearLayout d = wgmmaAccumulator(m, n, tiling), a = wgmmaOperandA(m, k, tiling);
  EXPECT_FALSE(verifyDistributed(d));
  EXPECT_FALSE(verifyDistributed(a));
  EXPECT_EQ(d.numWarps(), 16);
  MmaFragments fragments = wgmmaFragments(m, n, k, tiling);
  EXPECT_EQ(fragments.mTiles, 2);
  EXPECT_EQ(fragments.nTiles, 2);
  EXPECT_EQ(fragments.kTiles, 4);
  for (int64_t warp = 0; warp < 16; ++warp)
    for (int64_t mTile = 0; mTile < 2; ++mTile) {
      int64_t row = 128 * (warp / 4 % 2) + 64 * mTile + 16 * (warp % 4);
      for (int64_t nTile = 0; nTile < 2; ++nTile)
        EXPECT_EQ(at(d, fragments.accumulator(mTile, nTile).first, 0, warp),
                  toCoordinate({row, 64 * (warp / 8) + 32 * nTile}));
      for (int64_t kTile = 0; kTile < 4; ++kTile)
        EXPECT_EQ(at(a, fragments.a(mTile, kTile).first, 0, warp), toCoordinate({row, 16 * kTile}));
    }
  EXPECT_EQ(fragments.accumulator(0, 0).count, 16);
  EXPECT_EQ(fragments.a(0, 0).count, 8);
}

TEST(WgmmaLayouts, AccumulatorIsTheMmaAccumulatorOfFourWarps) {
  EXPECT_EQ(wgmmaAccumulator(64, 128, {1, 1}), mmaAccumulator(64, 128, {4, 1}));
}

// PTX ISA, "Block scaling for mma.sync": lanes 4 r and 4 r + 1 hold scales of rows r and r + 8, lane 4 c of column c.
TEST(MmaScales, lanesOfTheFirstThreads) {
  MmaTiling tiling{2, 2, 8, 32};
  LinearLayout a = mmaScalesA(64, 8, tiling), b = mmaScalesB(32, 8, tiling);
  EXPECT_FALSE(verifyDistributed(a));
  EXPECT_FALSE(verifyDistributed(b));
  EXPECT_EQ(at(a, 5, 4 * 3, 0), (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(at(a, 8 + 5, 4 * 3 + 1, 0), (std::vector<int32_t>{16 + 11, 5}));
  EXPECT_EQ(at(a, 0, 0, 1), (std::vector<int32_t>{32, 0}));
  EXPECT_EQ(at(a, 0, 0, 2), (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(at(b, 7, 4 * 5, 1), (std::vector<int32_t>{5, 7}));
  EXPECT_EQ(at(b, 8, 4 * 5, 2), (std::vector<int32_t>{16 + 8 + 5, 0}));
}
