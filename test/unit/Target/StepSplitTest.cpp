// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that tiles are split among the CTAs of a cluster if this was measured to be faster on an H200.
#include "Target/StepSplit.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

unsigned splitOf(const GemmProblem &problem, const char *target = "sm_90a") {
  const GpuTarget &gpu = *findTarget(target);
  return chooseStepSplit(gpu, problem, rankGemmConfigs(gpu, problem).front());
}

} // namespace

TEST(StepSplit, fewTilesWithManySteps) {
  EXPECT_EQ(splitOf({.m = 256, .n = 512, .k = 8192}), 2u);  // 20.9 -> 15.7 us
  EXPECT_EQ(splitOf({.m = 128, .n = 1024, .k = 8192}), 2u); // 21.1 -> 16.8 us
  EXPECT_EQ(splitOf({.m = 64, .n = 2048, .k = 8192}), 2u);  // 23.8 -> 19.3 us
  EXPECT_EQ(splitOf({.m = 64, .n = 4096, .k = 4096}), 2u);  // 21.5 -> 19.0 us with 16 of the 64 rows
  EXPECT_EQ(splitOf({.m = 64, .n = 1024, .k = 8192}), 4u);  // 20.8 -> 14.1 us with 16, 16.8 us by two
  EXPECT_EQ(splitOf({.m = 528, .n = 16, .k = 3704}), 4u);   // 10.8 -> 6.0 us, 7.7 us by two
}

TEST(StepSplit, negative_fewSteps) {
  EXPECT_EQ(splitOf({.m = 512, .n = 512, .k = 512}), 1u);
  EXPECT_EQ(splitOf({.m = 72, .n = 16, .k = 704}), 1u); // 3.3 us; 3.8 us if split in two
  EXPECT_EQ(splitOf({.m = 128, .n = 128, .k = 0}), 1u);
  // 7.7 us; 8.7 us if split in two
  EXPECT_EQ(splitOf({.m = 300, .n = 777, .k = 1024, .plainStores = true, .aKMajor = true, .bKMajor = true}), 1u);
}

TEST(StepSplit, negative_manyTiles) {
  for (int64_t size : {1024, 2048, 4096, 16384})
    EXPECT_EQ(splitOf({.m = size, .n = size, .k = 8192}), 1u);
}

// Halves read as many bytes: with 134 MB, memory is the bottleneck.
TEST(StepSplit, negative_memory) {
  EXPECT_EQ(splitOf({.m = 64, .n = 8192, .k = 8192, .aKMajor = true, .bKMajor = true}), 1u);
}

TEST(StepSplit, negative_fewRows) {
  const GpuTarget &gpu = *findTarget("sm_90a");
  GemmProblem problem{.m = 256, .n = 512, .k = 8192};
  GemmEstimate estimate = rankGemmConfigs(gpu, problem).front();
  estimate.config.blockM = 16;
  EXPECT_EQ(chooseStepSplit(gpu, problem, estimate), 1u);
}

TEST(StepSplit, negative_splitTail) {
  const GpuTarget &gpu = *findTarget("sm_90a");
  GemmProblem problem{.m = 256, .n = 512, .k = 8192};
  GemmEstimate estimate = rankGemmConfigs(gpu, problem).front();
  estimate.waves = 0.3;
  EXPECT_EQ(chooseStepSplit(gpu, problem, estimate), 1u);
}

TEST(StepSplit, negative_otherTargets) {
  EXPECT_EQ(splitOf({.m = 256, .n = 512, .k = 8192}, "sm_80"), 1u);
  EXPECT_EQ(splitOf({.m = 256, .n = 512, .k = 8192, .tensorMaps = false}), 1u);
}
