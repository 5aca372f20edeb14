// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that threads read words and store chunks of 16 bytes without bank conflicts.
#include "Layout/Transposition.h"

#include "Layout/SharedLayouts.h"
#include "MemoryModel.h"

#include <gtest/gtest.h>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

/// Expects wide accesses without conflicts for a matrix that is read along dimension `from`, and stored along the other
/// one for wgmma.
void expectWideWithoutConflicts(const std::vector<int64_t> &shape, unsigned bytes, unsigned from, int64_t warps) {
  SCOPED_TRACE(testing::Message() << shape[0] << "x" << shape[1] << " of " << bytes << " bytes along " << from);
  LinearLayout registers = planTransposition(shape, bytes, from, warps);
  LinearLayout copied = swizzledShared(shape, bytes, {from, 1 - from}, 128);
  VectorAccess read = planVectorAccess(memoryOffsets(registers, copied), bytes);
  EXPECT_EQ(read.elements, 4u);
  EXPECT_EQ(worstConflicts(read, bytes), 0);
  LinearLayout stored = swizzledShared(shape, bytes, {1 - from, from}, 128);
  VectorAccess write = planVectorAccess(memoryOffsets(registers, stored), bytes);
  EXPECT_EQ(write.elements * bytes, 16u);
  EXPECT_EQ(worstConflicts(write, bytes), 0);
}

} // namespace

TEST(Transposition, IsWideWithoutConflicts) {
  for (unsigned from : {0u, 1u})
    for (int64_t size : {128, 256}) {
      std::vector<int64_t> eight{128, 128}, four{128, 128};
      eight[from] = four[from] = size;
      four[1 - from] = 32;
      expectWideWithoutConflicts(eight, 1, from, 8);
      expectWideWithoutConflicts(four, 4, from, 8);
    }
}

// Fewer elements than threads could hold: each element is in some thread, and chunks stay whole.
TEST(Transposition, TakesSmallMatrices) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{32, 16}, {16, 16}, {64, 32}, {8, 128}})
    for (int64_t warps : {4, 8})
      EXPECT_FALSE(verifyDistributed(planTransposition({rows, columns}, 1, /*from=*/1, warps)));
}
