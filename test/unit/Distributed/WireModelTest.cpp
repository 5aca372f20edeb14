// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the model's choices for GEMMs that were measured on two H200.
#include "Distributed/WireModel.h"

#include <gtest/gtest.h>

using namespace tile::dist;

namespace {

constexpr double bytesOfRows(double rows, double columns) {
  return rows * columns * 2;
}

TEST(WireModelTest, chunksHideTheGatherOfTwoRanks) {
  // 4096 x 5120 x 8192: chunked 474 us, flagged 515, sequential 598.
  const WireWork work = {.ranks = 2, .gemm = 478, .chunk = 250, .chunkBytes = bytesOfRows(2048, 8192), .units = 8};
  EXPECT_LT(gatherChunkedTime(work), gatherFlaggedTime(work));
  EXPECT_LT(gatherFlaggedTime(work), sequentialTime(work, 1));
  EXPECT_NEAR(gatherChunkedTime(work), 474, 474 * 0.1);
  EXPECT_NEAR(sequentialTime(work, 1), 598, 598 * 0.1);
}
TEST(WireModelTest, chunksThatFillNoWaveLeaveTheChoiceToFlags) {
  // Eight ranks whose chunks each take as long as a wave: a single GEMM has half as many waves.
  const WireWork work = {.ranks = 8, .gemm = 400, .chunk = 100, .chunkBytes = bytesOfRows(256, 8192), .units = 1};
  EXPECT_LT(gatherFlaggedTime(work), gatherChunkedTime(work));
}
TEST(WireModelTest, copiesOfChunksHideTheScatter) {
  const WireWork work = {.ranks = 2, .gemm = 384, .chunk = 194, .chunkBytes = bytesOfRows(2048, 8192), .units = 1};
  EXPECT_LT(scatterChunkedTime(work, false), sequentialTime(work, 1));
  EXPECT_LT(scatterChunkedTime(work, true), sequentialTime(work, 2));
  EXPECT_GT(scatterChunkedTime(work, true), scatterChunkedTime(work, false));
}
TEST(WireModelTest, wireBoundWorkTakesAsLongAsTheWire) {
  const WireWork work = {.ranks = 2, .gemm = 20, .chunk = 10, .chunkBytes = bytesOfRows(8192, 8192), .units = 1};
  const double wire = work.chunkBytes / 350e3;
  EXPECT_GE(gatherChunkedTime(work), wire);
  EXPECT_GE(scatterChunkedTime(work, false), wire);
}
TEST(WireModelTest, smallWorkIsSequential) {
  // Chunks that take as long as the whole GEMM: splitting doubles the time, and there is little communication to hide.
  const WireWork work = {.ranks = 2, .gemm = 60, .chunk = 60, .chunkBytes = bytesOfRows(64, 4096), .units = 1};
  EXPECT_LT(sequentialTime(work, 1), gatherChunkedTime(work));
  EXPECT_LT(sequentialTime(work, 1), scatterChunkedTime(work, false));
}
TEST(WireModelTest, tokensThatSeveralExpertsShareAreSentOnce) {
  // DeepSeek-V3's experts on two GPUs with 4096 tokens each.
  MoeWork work = {.ranks = 2, .topK = 8, .experts = 4400, .tokenBytes = bytesOfRows(4096, 7168)};
  const double wire = work.tokenBytes / 380e3;
  EXPECT_LT(moeChunkedTime(work), moeSequentialTime(work));
  EXPECT_LT(moeChunkedTime(work), work.experts + 5 * wire);
  // Fewer experts per token need less bandwidth and less memory traffic.
  const double several = moeChunkedTime(work);
  work.topK = 2;
  EXPECT_LT(moeChunkedTime(work), several);
}
TEST(WireModelTest, expertsWithFewTokensReadTheirWeights) {
  EXPECT_EQ(expertsTime(1, 3500e3, 132), 1);
  EXPECT_EQ(expertsTime(132 * 5e6 * 2, 3500e3, 132), 2);
}

} // namespace
