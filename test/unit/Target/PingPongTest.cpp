// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that ping-pong is expected to gain where this was measured (bench/results/h200/ping-pong.md), and not
// elsewhere.
#include "Target/PingPong.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &h200() {
  return *findTarget("sm_90a");
}

bool usesPingPong(const GemmProblem &problem, const char *target = "sm_90a") {
  const GpuTarget &gpu = *findTarget(target);
  std::optional<GemmEstimate> pingPong = findPingPong(gpu, problem, {});
  return pingPong && prefersPingPong(gpu, problem, rankGemmConfigs(gpu, problem).front(), *pingPong);
}

} // namespace

TEST(PingPong, fewSteps) {
  EXPECT_TRUE(usesPingPong({.m = 8192, .n = 8192, .k = 512}));  // 120.3 -> 106.5 us
  EXPECT_TRUE(usesPingPong({.m = 8192, .n = 8192, .k = 1024})); // 220.6 -> 200.1 us
  EXPECT_TRUE(usesPingPong({.m = 4096, .n = 4096, .k = 512}));  // 31.4 -> 29.1 us
  EXPECT_TRUE(usesPingPong({.m = 4096, .n = 4096, .k = 1024})); // 52.5 -> 51.5 us
  EXPECT_TRUE(usesPingPong({.m = 8192, .n = 4096, .k = 256}));  // 35.2 -> 34.6 us
  EXPECT_TRUE(usesPingPong({.m = 2048, .n = 2048, .k = 512}));  // 9.1 -> 8.5 us
  EXPECT_TRUE(usesPingPong({.m = 8192, .n = 8192, .k = 512, .outputBytes = 4}));
}

TEST(PingPong, negative_manySteps) {
  EXPECT_FALSE(usesPingPong({.m = 2048, .n = 2048, .k = 2048})); // 26.6 us, 28.0 with ping-pong
  EXPECT_FALSE(usesPingPong({.m = 8192, .n = 8192, .k = 4096})); // 843.6 us, 874.7 with ping-pong
  EXPECT_FALSE(usesPingPong({.m = 4096, .n = 8192, .k = 8192})); // 828.5 us, 871.2 with ping-pong
}

TEST(PingPong, negative_oneRound) {
  EXPECT_FALSE(usesPingPong({.m = 1024, .n = 1024, .k = 512}));
  EXPECT_FALSE(usesPingPong({.m = 1024, .n = 1024, .k = 1024}));
  EXPECT_FALSE(usesPingPong({.m = 1536, .n = 8192, .k = 1024})); // 41.5 us, 41.8 with ping-pong
}

TEST(PingPong, negative_otherInstructions) {
  EXPECT_FALSE(usesPingPong({.m = 8192, .n = 8192, .k = 512}, "sm_80"));
  EXPECT_FALSE(usesPingPong({.m = 8192, .n = 8192, .k = 512, .tensorMaps = false}));
  EXPECT_FALSE(usesPingPong({.m = 16, .n = 32768, .k = 512}));
}

// Each team has panels for storing c.
TEST(PingPong, fitsMemory) {
  GemmEstimate found = *findPingPong(h200(), {.k = 512}, {});
  EXPECT_EQ(found.config, (GemmConfig{128, 128, 64, 11, 4, 5, true}));
  EXPECT_EQ(findPingPong(h200(), {.k = 512}, {.blockM = 64, .blockN = 64})->config.blockM, 64u);
  EXPECT_FALSE(findPingPong(h200(), {.k = 512}, {.numWarps = 8}));
  EXPECT_FALSE(findPingPong(h200(), {.k = 512}, {.numStages = 6}));
  EXPECT_FALSE(findPingPong(h200(), {.k = 512}, {.blockM = 128, .blockN = 256}));
}
