// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector accesses, conflict counts and ldmatrix plans against the model of shared memory in MemoryModel.h.

#include "Layout/Access.h"

#include "Layout/Factories.h"
#include "Layout/MmaLayouts.h"
#include "Layout/SharedLayouts.h"
#include "MemoryModel.h"

#include <gtest/gtest.h>

#include <map>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

/// Checks that every register is accessed exactly once, at its own offset, and that accesses are aligned.
void checkVectorAccess(const LinearLayout &offsets, const VectorAccess &access) {
  std::set<int32_t> registers(access.registerOrder.begin(), access.registerOrder.end());
  ASSERT_EQ(registers.size(), static_cast<size_t>(offsets.numRegisters()));
  ASSERT_EQ(access.addresses.numRegisters() * access.elements, offsets.numRegisters());
  forEachInput(access.addresses, [&](int64_t index, int64_t lane, int64_t warp) {
    uint64_t address = flatAt(access.addresses, index, lane, warp);
    ASSERT_EQ(address % access.elements, 0u);
    for (unsigned element = 0; element < access.elements; ++element)
      ASSERT_EQ(flatAt(offsets, access.registerOrder[index * access.elements + element], lane, warp),
                address + element);
  });
}

/// Runs ldmatrix lane by lane: every element of every register must come from the offset at which `shared` stores it.
void checkMatrixAccess(const LinearLayout &distributed, const LinearLayout &shared, unsigned elementBytes,
                       const MatrixAccess &access) {
  LinearLayout offsets = memoryOffsets(distributed, shared);
  std::set<int32_t> registers(access.registerOrder.begin(), access.registerOrder.end());
  ASSERT_EQ(registers.size(), static_cast<size_t>(distributed.numRegisters()));
  ASSERT_EQ(access.addresses.numRegisters() * access.matrices * access.elementsPerRegister, distributed.numRegisters());
  for (int64_t warp = 0; warp < distributed.numWarps(); ++warp)
    for (unsigned index = 0; index < access.addresses.numRegisters(); ++index) {
      std::array<int64_t, 32> rows;
      for (int64_t lane = 0; lane < 32; ++lane) {
        rows[lane] = static_cast<int64_t>(flatAt(access.addresses, index, lane, warp));
        ASSERT_EQ(rows[lane] % 16, 0);
      }
      MatrixUnits units = loadMatrices(rows, access.matrices, access.transposed);
      for (unsigned matrix = 0; matrix < access.matrices; ++matrix)
        for (int64_t lane = 0; lane < 32; ++lane)
          for (unsigned element = 0; element < access.elementsPerRegister; ++element) {
            int64_t byte = element * elementBytes; // within the 32-bit register
            int64_t loaded = units[matrix][lane][byte / 2] + byte % 2;
            int32_t target = access.registerAt(index, matrix, element);
            ASSERT_EQ(loaded, static_cast<int64_t>(flatAt(offsets, target, lane, warp)) * elementBytes);
          }
    }
}

/// Conflicts of the row reads of ldmatrix: each matrix is one phase of 8 rows of 16 bytes.
int64_t worstMatrixConflicts(const MatrixAccess &access) {
  int64_t worst = 0;
  for (int64_t warp = 0; warp < access.addresses.numWarps(); ++warp)
    for (int64_t index = 0; index < access.addresses.numRegisters(); ++index) {
      std::array<int64_t, 32> rows;
      for (int64_t lane = 0; lane < 32; ++lane)
        rows[lane] = static_cast<int64_t>(flatAt(access.addresses, index, lane, warp));
      worst = std::max(worst, countConflicts(rows, 16));
    }
  return worst;
}

} // namespace

TEST(VectorAccess, CoversEveryRegisterOfRandomLayouts) {
  RandomLayouts random(51);
  std::map<unsigned, int> widths;
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> shape = random.shape(2, 10);
    LinearLayout distributed = random.distributed(shape, 1, random.below(2), round % 3 == 0);
    LinearLayout shared = round % 2 ? unswizzledShared(shape, {1, 0}) : random.shared(shape);
    LinearLayout offsets = memoryOffsets(distributed, shared);
    VectorAccess access = planVectorAccess(offsets, 2);
    checkVectorAccess(offsets, access);
    ++widths[access.elements];
  }
  EXPECT_GT(widths[2] + widths[4] + widths[8], 20); // the relevant cases occur
}

TEST(VectorAccess, IsAsWideAsTheRegistersAllow) {
  LinearLayout layout = blocked({32, 64}, {{1, 8}, {4, 8}, {1, 1}, {1, 0}});
  LinearLayout offsets = memoryOffsets(layout, unswizzledShared({32, 64}, {1, 0}));
  EXPECT_EQ(planVectorAccess(offsets, 2).elements, 8u);
  EXPECT_EQ(planVectorAccess(offsets, 4).elements, 4u); // 16 bytes
  EXPECT_EQ(planVectorAccess(offsets, 1).elements, 8u);
  EXPECT_EQ(planVectorAccess(offsets, 2, 4).elements, 2u);
  EXPECT_EQ(planVectorAccess(offsets, 2, 1).elements, 1u);
  EXPECT_EQ(planVectorAccess(memoryOffsets(layout, unswizzledShared({32, 64}, {0, 1})), 2).elements, 1u);
}

TEST(VectorAccess, FindsRegisterBitsThatAreNotTheLowest) {
  LinearLayout layout = LinearLayout::distributed({64, 2, 1}, {4, 8, 16, 32, 128}, {}, {4, 64});
  LinearLayout offsets = memoryOffsets(layout, unswizzledShared({4, 64}, {1, 0}));
  VectorAccess access = planVectorAccess(offsets, 4);
  EXPECT_EQ(access.elements, 4u);
  EXPECT_EQ(access.registerOrder, (std::vector<int32_t>{0, 4, 2, 6, 1, 5, 3, 7}));
  checkVectorAccess(offsets, access);
}

TEST(VectorAccess, LanesLimitTheWidth) {
  LinearLayout layout = LinearLayout::distributed({1, 2}, {3, 4, 8, 16, 32}, {}, {64});
  EXPECT_EQ(planVectorAccess(memoryOffsets(layout, unswizzledShared({64}, {0})), 2).elements, 1u);
}

TEST(VectorAccess, WarpsLimitTheWidth) {
  LinearLayout layout = LinearLayout::distributed({1, 2}, {4, 8, 16, 32, 64}, {3}, {128});
  EXPECT_EQ(planVectorAccess(memoryOffsets(layout, unswizzledShared({128}, {0})), 2).elements, 1u);
  layout = LinearLayout::distributed({1, 2}, {4, 8, 16, 32, 64}, {6}, {128});
  EXPECT_EQ(planVectorAccess(memoryOffsets(layout, unswizzledShared({128}, {0})), 2).elements, 2u);
}

TEST(BankConflicts, EqualsTheCountOfWords) {
  RandomLayouts random(52);
  int conflicting = 0;
  for (int round = 0; round < 400; ++round) {
    unsigned elementBytes = 1u << random.below(4);
    std::vector<int64_t> shape = random.shape(2, 11);
    LinearLayout distributed = random.distributed(shape, 1, random.below(3), round % 2 == 0);
    LinearLayout offsets = memoryOffsets(distributed, unswizzledShared(shape, {1, 0}));
    VectorAccess access = planVectorAccess(offsets, elementBytes);
    int64_t counted = worstConflicts(access, elementBytes);
    EXPECT_EQ(bankConflicts(offsets, elementBytes, access.elements), counted) << "round " << round;
    conflicting += counted > 0;
  }
  EXPECT_GT(conflicting, 50);
}

TEST(BankConflicts, TextbookCases) {
  auto columnOf = [](int64_t pitch) { // lane l reads element [l, 0] of rows of `pitch` floats
    return LinearLayout::distributed(
        {}, {uint64_t(pitch), uint64_t(2 * pitch), uint64_t(4 * pitch), uint64_t(8 * pitch), uint64_t(16 * pitch)}, {},
        {32 * pitch});
  };
  EXPECT_EQ(bankConflicts(columnOf(1), 4, 1), 0);
  EXPECT_EQ(bankConflicts(columnOf(2), 4, 1), 1);
  EXPECT_EQ(bankConflicts(columnOf(32), 4, 1), 31);
  EXPECT_EQ(bankConflicts(columnOf(4), 4, 4), 0);   // 16 bytes a lane, contiguous
  EXPECT_EQ(bankConflicts(columnOf(32), 4, 4), 28); // 4 phases of 8 rows in the same banks
  // All lanes read the same word.
  EXPECT_EQ(bankConflicts(LinearLayout::distributed({}, {0, 0, 0, 0, 0}, {}, {32}), 4, 1), 0);
}

TEST(Ldmatrix, LoadsMmaOperandsFromSwizzledBuffers) {
  struct Case {
    LinearLayout operand;
    unsigned elementBytes;
    std::vector<unsigned> order;
    bool transposed;
  };
  MmaTiling f16{2, 2, 16, 16}, f16Half{2, 2, 16, 8}, tf32{2, 2, 32, 8}, s8{2, 2, 8, 32};
  std::vector<Case> cases = {
      {mmaOperandA(64, 64, f16), 2, {1, 0}, false},     {mmaOperandA(64, 64, f16), 2, {0, 1}, true},
      {mmaOperandB(64, 64, f16), 2, {0, 1}, false},     {mmaOperandB(64, 64, f16), 2, {1, 0}, true},
      {mmaOperandA(64, 32, f16Half), 2, {1, 0}, false}, {mmaOperandB(32, 64, f16Half), 2, {1, 0}, true},
      {mmaOperandA(64, 32, tf32), 4, {1, 0}, false},    {mmaOperandB(32, 64, tf32), 4, {0, 1}, false},
      {mmaOperandA(64, 128, s8), 1, {1, 0}, false},     {mmaOperandB(128, 64, s8), 1, {0, 1}, false},
  };
  for (const Case &operand : cases)
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      LinearLayout shared = swizzledShared(operand.operand.outShape(), operand.elementBytes, operand.order, swizzle);
      std::optional<MatrixAccess> access = planLdmatrix(operand.operand, shared, operand.elementBytes);
      ASSERT_TRUE(access);
      EXPECT_EQ(access->transposed, operand.transposed);
      EXPECT_EQ(access->matrices, 4u);
      checkMatrixAccess(operand.operand, shared, operand.elementBytes, *access);
      if (swizzle == 0)
        EXPECT_GT(worstMatrixConflicts(*access), 0); // the conflicts that swizzles avoid
      else
        EXPECT_EQ(worstMatrixConflicts(*access), 0);
    }
}

TEST(Ldmatrix, FragmentsStayInPtxOrder) {
  LinearLayout a = mmaOperandA(16, 64, {});
  std::optional<MatrixAccess> access = planLdmatrix(a, swizzledShared({16, 64}, 2, {1, 0}, 128), 2);
  ASSERT_TRUE(access);
  for (int32_t index = 0; index < a.numRegisters(); ++index)
    EXPECT_EQ(access->registerOrder[index], index); // one ldmatrix.x4 loads exactly one fragment
}

TEST(Ldmatrix, SmallFragmentsUseFewerMatrices) {
  std::optional<MatrixAccess> two = planLdmatrix(mmaOperandB(16, 8, {}), unswizzledShared({16, 8}, {0, 1}), 2);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->matrices, 2u);
  MmaTiling half{1, 1, 16, 8};
  LinearLayout b = mmaOperandB(8, 8, half), shared = unswizzledShared({8, 8}, {1, 0});
  std::optional<MatrixAccess> one = planLdmatrix(b, shared, 2);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->matrices, 1u);
  EXPECT_TRUE(one->transposed);
  checkMatrixAccess(b, shared, 2, *one);
}

TEST(Ldmatrix, WgmmaOperandAAndPaddedTiles) {
  LinearLayout a = wgmmaOperandA(128, 64, {2, 1}), shared = swizzledShared({128, 64}, 2, {1, 0}, 128);
  std::optional<MatrixAccess> access = planLdmatrix(a, shared, 2);
  ASSERT_TRUE(access);
  checkMatrixAccess(a, shared, 2, *access);
  LinearLayout vector = mmaOperandA(1, 32, {1, 2}), row = unswizzledShared({1, 32}, {1, 0});
  access = planLdmatrix(vector, row, 2);
  ASSERT_TRUE(access);
  checkMatrixAccess(vector, row, 2, *access);
}

TEST(Ldmatrix, AnyPlanForRandomLayoutsIsRight) {
  RandomLayouts random(53);
  int plans = 0;
  for (int round = 0; round < 400; ++round) {
    // Random buffers rarely have such an access, so rows and matrices of a legal fragment are mixed at random.
    LinearLayout operand = round % 2 ? mmaOperandA(32, 32, {}) : mmaOperandB(32, 32, {});
    std::vector<uint64_t> registers = operand.flatBases(registerDim);
    for (size_t index = 1; index < registers.size(); ++index)
      if (random.below(2))
        registers[index] ^= registers[random.below(static_cast<unsigned>(index))];
    LinearLayout mixed =
        LinearLayout::distributed(registers, operand.flatBases(laneDim), operand.flatBases(warpDim), {32, 32});
    LinearLayout shared =
        swizzledShared({32, 32}, 2, random.below(2) ? std::vector<unsigned>{1, 0} : std::vector<unsigned>{0, 1}, 64);
    std::optional<MatrixAccess> access = planLdmatrix(mixed, shared, 2);
    if (!access)
      continue;
    ++plans;
    checkMatrixAccess(mixed, shared, 2, *access);
  }
  EXPECT_GT(plans, 100);
}

TEST(Ldmatrix, negative_WrongLanesOrElements) {
  LinearLayout rows = defaultBlocked({64, 64}, {1, 0}, 8, 4), shared = swizzledShared({64, 64}, 2, {1, 0}, 128);
  EXPECT_FALSE(planLdmatrix(rows, shared, 2));
  MmaTiling s8{1, 1, 8, 32};
  EXPECT_FALSE(planLdmatrix(mmaOperandB(64, 64, s8), unswizzledShared({64, 64}, {1, 0}), 1)); // no 8-bit .trans
  EXPECT_FALSE(planLdmatrix(mmaOperandA(64, 64, {}), unswizzledShared({64, 64}, {1, 0}), 8));
  EXPECT_FALSE(planLdmatrix(defaultBlocked({2}, {0}, 1, 1), unswizzledShared({2}, {0}), 2));
}

TEST(Ldmatrix, negative_LanesOrWarpsInsideARow) {
  LinearLayout a = mmaOperandA(64, 64, {2, 2}), shared = swizzledShared({64, 64}, 2, {1, 0}, 128);
  ASSERT_TRUE(planLdmatrix(a, shared, 2));
  std::vector<uint64_t> lanes = a.flatBases(laneDim), warps = a.flatBases(warpDim);
  std::swap(lanes[0], lanes[2]);
  EXPECT_FALSE(planLdmatrix(LinearLayout::distributed(a.flatBases(registerDim), lanes, warps, {64, 64}), shared, 2));
  std::swap(lanes[0], lanes[2]);
  lanes[4] ^= 1; // the row of lanes 16 to 31 starts at its second element
  EXPECT_FALSE(planLdmatrix(LinearLayout::distributed(a.flatBases(registerDim), lanes, warps, {64, 64}), shared, 2));
  lanes[4] ^= 1;
  warps[1] = 2; // holds the same elements, but in swapped lanes
  EXPECT_FALSE(planLdmatrix(LinearLayout::distributed(a.flatBases(registerDim), lanes, warps, {64, 64}), shared, 2));
}

TEST(Stmatrix, StoresAccumulatorsWithoutConflicts) {
  LinearLayout accumulator = wgmmaAccumulator(64, 128, {1, 1, 16, 128});
  for (const std::vector<unsigned> &order : {std::vector<unsigned>{1, 0}, {0, 1}}) {
    LinearLayout shared = swizzledShared({64, 128}, 2, order, 128);
    std::optional<MatrixAccess> access = planLdmatrix(accumulator, shared, 2);
    ASSERT_TRUE(access);
    EXPECT_EQ(access->transposed, order[0] == 0);
    EXPECT_EQ(access->matrices, 4u);
    checkMatrixAccess(accumulator, shared, 2, *access);
    EXPECT_EQ(worstMatrixConflicts(*access), 0);
  }
}
