// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model: every configuration that it offers can be built, it responds to sizes plausibly, and its picks are
// good for all sizes for which the alternatives were measured.
#include "Schedules.h"
#include "Target/GemmTime.h"
#include "Target/KernelSet.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &hopper = *findTarget("sm_90a");

const std::vector<GemmProblem> shapes = {
    {.m = 512, .n = 512, .k = 512},       {.m = 4096, .n = 4096, .k = 4096},
    {.m = 16384, .n = 16384, .k = 16384}, {.m = 16, .n = 8192, .k = 8192},
    {.m = 8192, .n = 1024, .k = 8192},    {.m = 1000, .n = 4097, .k = 4096},
    {.m = 300, .n = 777, .k = 1024},      {.m = 1, .n = 1, .k = 1},
    {.m = 0, .n = 128, .k = 128},         {.m = 128, .n = 128, .k = 0},
    {.m = 1 << 24, .n = 1 << 24, .k = 1},
};

GemmConfig best(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices = {}) {
  std::vector<GemmEstimate> ranked = rankGemmConfigs(target, problem, choices);
  return ranked.empty() ? GemmConfig{} : ranked.front().config;
}

GemmProblem square(int64_t size) {
  return {.m = size, .n = size, .k = size};
}

} // namespace

TEST(CostModel, everyCandidateIsLegalOnEveryTarget) {
  for (const GpuTarget *target : allTargets())
    for (MmaType element : {MmaType::F16, MmaType::BF16, MmaType::TF32, MmaType::F8E4M3, MmaType::S8, MmaType::F64})
      for (bool tensorMaps : {false, true})
        for (GemmProblem problem : shapes) {
          problem.element = element;
          problem.tensorMaps = problem.aKMajor = problem.bKMajor = tensorMaps;
          std::vector<GemmEstimate> ranked = rankGemmConfigs(*target, problem);
          ASSERT_FALSE(ranked.empty()) << target->name << mmaTypeName(element);
          for (const GemmEstimate &estimate : ranked) {
            const GemmConfig &config = estimate.config;
            EXPECT_EQ(checkGemmConfig(*target, problem, config), "");
            EXPECT_LE(sharedBytes(problem, config), target->maxSharedPerCta);
            EXPECT_LE(config.blockM * config.blockN / (32 * config.numWarps), 128u);
            EXPECT_EQ(config.wgmma, canUseWgmma(*target, problem));
            EXPECT_TRUE(!config.wgmma || (isSwapped(config) ? config.blockN : config.blockM) >= 64);
            EXPECT_GT(estimate.microseconds, 0);
          }
        }
}

TEST(CostModel, cheapestFirst) {
  std::vector<GemmEstimate> ranked = rankGemmConfigs(hopper, square(3072));
  ASSERT_GT(ranked.size(), 4u);
  for (size_t i = 1; i < ranked.size(); ++i)
    EXPECT_LE(ranked[i - 1].microseconds, ranked[i].microseconds);
  EXPECT_EQ(estimateGemm(hopper, square(3072), ranked[2].config).microseconds, ranked[2].microseconds);
}

TEST(CostModel, whatThisCompilerCannotBuild) {
  GemmProblem problem;
  const GemmConfig good{128, 256, 64, 8, 8, 4, true};
  EXPECT_EQ(checkGemmConfig(hopper, problem, good), "");
  auto reject = [&](auto change) {
    GemmConfig config = good;
    change(config);
    EXPECT_NE(checkGemmConfig(hopper, problem, config), "");
  };
  reject([](GemmConfig &config) { config.numWarps = 4; }); // 256 accumulators per thread
  reject([](GemmConfig &config) { config.numStages = 5; });
  reject([](GemmConfig &config) { config.numStages = 0; });
  reject([](GemmConfig &config) { config.blockM = 32, config.blockN = 32; });
  reject([](GemmConfig &config) { config.blockM = 8; });   // a may be column-major: its panels have 16 rows
  reject([](GemmConfig &config) { config.blockN = 200; }); // not a multiple of 16
  reject([](GemmConfig &config) { config.blockM = 192; }); // and 256 columns: too many accumulators
  reject([](GemmConfig &config) { config.blockM = 144, config.blockN = 144; }); // one of them is the rows of wgmma
  reject([](GemmConfig &config) { config.blockM = 72, config.blockN = 128; });
  reject([](GemmConfig &config) { config.blockM = 64, config.blockN = 192; }); // two groups share 192 columns
  reject([](GemmConfig &config) { config.blockN = 96, config.blockK = 128; });
  reject([](GemmConfig &config) { config.blockK = 8; });
  reject([](GemmConfig &config) { config.numWarps = 2; });
  reject([](GemmConfig &config) { config.numWarps = 16; });
  reject([](GemmConfig &config) { config.groupM = 0; });
  reject([](GemmConfig &config) { config.blockN = 512; });
  reject([](GemmConfig &config) { config.blockM = 64, config.blockN = 64; }); // two groups share 64 rows
  problem.tensorMaps = false;
  EXPECT_NE(checkGemmConfig(hopper, problem, good), "");
  EXPECT_NE(checkGemmConfig(*findTarget("sm_80"), GemmProblem{}, good), "");
}

TEST(CostModel, wgmmaNeedsTensorMapsAndTypes) {
  EXPECT_TRUE(canUseWgmma(hopper, {}));
  EXPECT_FALSE(canUseWgmma(hopper, {.tensorMaps = false}));
  EXPECT_FALSE(canUseWgmma(*findTarget("sm_90"), {}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::TF32}));
  EXPECT_FALSE(canUseWgmma(hopper, {.element = MmaType::TF32, .tensorMaps = false}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::TF32, .aKMajor = true, .bKMajor = true}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::F8E5M2, .aKMajor = true, .bKMajor = true}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::F8E4M3, .aKMajor = true}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::S8}));
  EXPECT_TRUE(canUseWgmma(hopper, {.element = MmaType::S8, .aKMajor = true, .bKMajor = true}));
}

// The shorter side of a block is transposed. Measured for 4096x4096x4096: tf32 nn 404 us with 256x128, 455 with
// 128x256; tt 390 and 436; fp8 nn 131 and 135, tt 156 and 119.
TEST(CostModel, turnsTheShorterSide) {
  auto pick = [](MmaType element, bool aKMajor, bool bKMajor) {
    GemmConfig best =
        rankGemmConfigs(hopper, {.element = element, .aKMajor = aKMajor, .bKMajor = bKMajor}).front().config;
    return std::pair(best.blockM, best.blockN);
  };
  EXPECT_EQ(pick(MmaType::TF32, true, false), std::pair(256u, 128u));
  EXPECT_EQ(pick(MmaType::TF32, false, true), std::pair(128u, 256u));
  EXPECT_EQ(pick(MmaType::F8E4M3, true, false), std::pair(256u, 128u));
  EXPECT_EQ(pick(MmaType::F8E4M3, false, true), std::pair(128u, 256u));
}

TEST(CostModel, moreWorkTakesLonger) {
  for (const char *name : {"sm_80", "sm_90a"}) {
    const GpuTarget &target = *findTarget(name);
    for (const GemmConfig &config : gemmCandidates(target, {})) {
      double last = 0;
      for (int64_t size = 256; size <= 16384; size *= 2) {
        double time = estimateGemm(target, square(size), config).microseconds;
        EXPECT_GT(time, last);
        last = time;
        EXPECT_GT(estimateGemm(target, {.m = size, .n = size, .k = 2 * size}, config).microseconds, time);
        // More bytes reduce the relative loss of a single group slightly.
        EXPECT_GE(estimateGemm(target, {.m = size + 1, .n = size, .k = size}, config).microseconds, 0.9999 * time);
      }
    }
  }
}

// Holds up to 132 multiprocessors. With more, the L2 bandwidth per multiprocessor is small, while the last wave remains
// complete.
TEST(CostModel, moreMultiprocessorsAreNotSlower) {
  for (const GemmConfig &config : gemmCandidates(hopper, {}))
    for (unsigned sms : {33u, 66u}) {
      GemmProblem few{.numSms = sms}, many{.numSms = 2 * sms};
      EXPECT_LE(estimateGemm(hopper, many, config).microseconds,
                estimateGemm(hopper, few, config).microseconds * 1.0001);
    }
}

TEST(CostModel, smallProblemsGetSmallTiles) {
  auto area = [](const GemmConfig &config) { return config.blockM * config.blockN; };
  for (const char *name : {"sm_80", "sm_90a"}) {
    const GpuTarget &target = *findTarget(name);
    EXPECT_LT(area(best(target, square(512))), area(best(target, square(8192))));
    EXPECT_LT(area(best(target, {.m = 16, .n = 4096, .k = 4096})), area(best(target, square(4096))));
  }
}

// The fastest configurations that were measured on an H200 for M = 1 and 16, N and K 4096, 8192 and 28672.
TEST(CostModel, fewRowsAreSwapped) {
  for (int64_t n : {4096, 8192, 28672}) {
    GemmProblem problem{.m = 16, .n = n, .k = 8192, .aKMajor = true, .bKMajor = true};
    // One wave of large tiles is faster than four waves of small ones: 118.4 us against 125.6.
    bool isOneRound = n == 28672;
    GemmConfig few{16, 64, 128, 1, 4, 11, true}, large{16, 256, 128, 1, 8, 3, true};
    EXPECT_EQ(best(hopper, problem), isOneRound ? large : few);
    problem.m = 1;
    EXPECT_EQ(best(hopper, problem).blockM, 8u);
    problem.m = 17;
    EXPECT_EQ(best(hopper, problem).blockM, 32u);
    problem.m = 33;
    EXPECT_EQ(best(hopper, problem).blockM, 64u);
    problem.m = 16;
    problem.canSwap = false;
    EXPECT_EQ(best(hopper, problem).blockM, 64u);
  }
}

// 288 tiles of 128x256 on 132 multiprocessors: two full waves, and 24 tiles in three parts each.
TEST(CostModel, splitTailsDoNotFillUpWaves) {
  GemmProblem split = square(3072), whole = split;
  whole.splitTail = false;
  const GemmConfig config{128, 256, 64, 8, 8, 4, true};
  EXPECT_EQ(estimateGemm(hopper, whole, config).waves, 3);
  EXPECT_NEAR(estimateGemm(hopper, split, config).waves, 2 + 1 / 3.0, 0.01);
  EXPECT_LT(estimateGemm(hopper, split, config).microseconds, estimateGemm(hopper, whole, config).microseconds);
  // One step of K: nothing to split.
  split.k = 64;
  EXPECT_EQ(estimateGemm(hopper, split, config).waves, 3);
}

// Configurations of kernels that do not state their sizes.
TEST(CostModel, defaultProblem) {
  EXPECT_EQ(best(hopper, {}), (GemmConfig{128, 256, 64, 12, 8, 4, true}));
  EXPECT_EQ(best(hopper, {.tensorMaps = false}), (GemmConfig{128, 128, 32, 8, 4, 3, false}));
  EXPECT_EQ(best(*findTarget("sm_80"), {}), (GemmConfig{128, 128, 32, 8, 4, 3, false}));
}

// Operands that pass through registers, one element at a time: a step's elements take registers in addition to the
// accumulators.
TEST(CostModel, operandsThroughRegisters) {
  const GemmProblem problem{.tensorMaps = false, .copyBytes = 2, .asyncCopies = false};
  // Warp groups multiply the larger tile; mma.sync on a GPU without them would spill.
  EXPECT_EQ(best(hopper, problem), (GemmConfig{128, 128, 32, 8, 8, 3, false}));
  EXPECT_EQ(best(*findTarget("sm_80"), problem), (GemmConfig{64, 128, 32, 8, 4, 3, false}));
  // A configuration that would spill gets eight warps, and is not the best of the open ones.
  EXPECT_EQ(best(hopper, problem, {.blockM = 128, .blockN = 128}).numWarps, 8u);
  EXPECT_EQ(best(hopper, problem, {.numWarps = 4}), (GemmConfig{64, 64, 64, 8, 4, 3, false}));
  EXPECT_TRUE(fitsRegisters(hopper, problem, best(hopper, problem, {.blockK = 64})));
  EXPECT_TRUE(fitsRegisters(hopper, problem, best(hopper, problem, {.numWarps = 2})));
  // Chunks of 16 bytes without cp.async take half as many registers.
  const GemmProblem pieces{.tensorMaps = false, .copyBytes = 16, .asyncCopies = false};
  const GemmConfig config{64, 128, 32, 8, 4, 3, false};
  EXPECT_EQ(registersOfStep(problem, config), 64u + 48);
  EXPECT_EQ(registersOfStep(pieces, config), 64u + 24);
  EXPECT_TRUE(fitsRegisters(*findTarget("sm_75"), pieces, best(*findTarget("sm_75"), pieces)));
  // Times in us were measured on an H200 (variants.tsv), for few tiles (`small`) and for many (`large`).
  auto time = [&](GemmSize size, unsigned block, unsigned steps, unsigned warps) {
    GemmProblem measured{.m = size.m, .n = size.n, .k = size.k, .element = MmaType::BF16, .tensorMaps = false};
    measured.copyBytes = 2;
    measured.asyncCopies = measured.bKMajor = false;
    return estimateKernel(hopper, measured, {{block, block, steps, 8, warps, 3, false}, {.persistent = false}, false},
                          size);
  };
  const GemmSize small{777, 1003, 555}, large{1000, 4097, 4096};
  EXPECT_NEAR(time(small, 64, 64, 4) / 15.0, 1, 0.25);
  EXPECT_NEAR(time(small, 128, 32, 8) / 22.0, 1, 0.25);
  EXPECT_LT(time(small, 64, 64, 4), time(small, 128, 32, 8));
  EXPECT_NEAR(time(large, 64, 64, 4) / 236.6, 1, 0.25);
  EXPECT_NEAR(time(large, 128, 32, 8) / 162.9, 1, 0.3);
  EXPECT_LT(time(large, 128, 32, 8), time(large, 64, 64, 4));
}

// Tiles that run together read few rows and columns if both numbers are similar.
TEST(CostModel, groups) {
  auto groupOf = [](int64_t m, int64_t n, unsigned blockM, unsigned blockN, unsigned sms, int64_t k = 4096) {
    return best(hopper, {.m = m, .n = n, .k = k, .numSms = sms}, {.blockM = blockM, .blockN = blockN}).groupM;
  };
  EXPECT_EQ(groupOf(8192, 8192, 128, 256, 132), 12u);
  EXPECT_EQ(groupOf(8192, 8192, 256, 128, 132), 6u);
  EXPECT_EQ(groupOf(8192, 8192, 128, 256, 64), 8u);
  EXPECT_EQ(groupOf(512, 32768, 128, 256, 132), 4u);
  // All tiles run at once.
  EXPECT_EQ(groupOf(1536, 1536, 128, 144, 132), 4u);
  EXPECT_EQ(groupOf(2048, 2048, 128, 256, 132), 8u);
  EXPECT_EQ(groupOf(2048, 2048, 128, 256, 132, /*k=*/1024), 1u);
  EXPECT_EQ(groupOf(64, 8192, 64, 64, 132), 1u);
}

TEST(CostModel, choicesAreKept) {
  GemmConfig config = best(hopper, {}, {.blockM = 64, .blockK = 64, .groupM = 5});
  EXPECT_EQ(config.blockM, 64u);
  EXPECT_EQ(config.blockK, 64u);
  EXPECT_EQ(config.groupM, 5u);
  EXPECT_TRUE(config.wgmma);
  EXPECT_EQ(best(hopper, {}, {.numWarps = 4}).numWarps, 4u);
  EXPECT_EQ(best(hopper, {}, {.numStages = 2}).numStages, 2u);
}

TEST(CostModel, choicesThatOnlyMmaSyncAllows) {
  GemmConfig config = best(hopper, {}, {.blockM = 32, .blockN = 32});
  EXPECT_EQ(config.blockM, 32u);
  EXPECT_FALSE(config.wgmma);
}

TEST(CostModel, choicesThatAreNotLegalAreKeptToo) {
  std::vector<GemmEstimate> ranked = rankGemmConfigs(hopper, {}, {.blockM = 72});
  ASSERT_EQ(ranked.size(), 1u);
  EXPECT_EQ(ranked.front().config.blockM, 72u);
  EXPECT_NE(checkGemmConfig(hopper, {}, ranked.front().config), "");
  ranked = rankGemmConfigs(hopper, {}, {.blockM = 256, .blockN = 256, .numWarps = 4});
  ASSERT_EQ(ranked.size(), 1u);
  EXPECT_EQ(ranked.front().config.blockN, 256u);
}

// 132 tiles of 128x144 are one wave, 384 of 128x192 nearly three.
TEST(CostModel, blocksThatAreNoPowersOfTwo) {
  GemmProblem problem = square(1536);
  // If rows of blocks of c or of a row-major b would begin inside lines of L2, a number of rows that is not a power of
  // two is chosen.
  EXPECT_EQ(best(hopper, problem), (GemmConfig{144, 128, 64, 4, 8, 4, true}));
  problem.anyRows = false;
  EXPECT_EQ(best(hopper, problem), (GemmConfig{128, 144, 64, 4, 8, 4, true}));
  problem.anyRows = problem.aKMajor = problem.bKMajor = true;
  EXPECT_EQ(best(hopper, problem), (GemmConfig{144, 128, 64, 4, 8, 5, true}));
  problem.canSwap = false;
  EXPECT_EQ(best(hopper, problem), (GemmConfig{128, 144, 64, 4, 8, 5, true}));
  EXPECT_EQ(best(hopper, square(3072)), (GemmConfig{128, 192, 64, 12, 8, 4, true}));
  problem.anyBlockSize = false;
  for (const GemmConfig &config : gemmCandidates(hopper, problem))
    EXPECT_EQ((config.blockM & (config.blockM - 1)) | (config.blockN & (config.blockN - 1)), 0u);
  problem.anyBlockSize = true;
  problem.tensorMaps = false;
  for (const GemmConfig &config : gemmCandidates(hopper, problem))
    EXPECT_EQ((config.blockM & (config.blockM - 1)) | (config.blockN & (config.blockN - 1)), 0u);
  // If power is the limit, nothing is gained.
  EXPECT_EQ(best(hopper, {.m = 8192, .n = 8192, .k = 8192, .aKMajor = true, .bKMajor = true}).blockN, 256u);
}

// A second dot's accumulators take registers, or the GEMM's own shared memory.
TEST(CostModel, roomForAccumulators) {
  GemmProblem problem = square(4096);
  EXPECT_EQ(best(hopper, problem).blockN, 256u);
  problem.roomForAccumulators = true;
  problem.anyBlockSize = false;
  for (const GemmConfig &config : gemmCandidates(hopper, problem)) {
    EXPECT_LE(config.blockM * config.blockN, 64 * 32 * config.numWarps);
    GemmProblem alone = problem;
    alone.roomForAccumulators = false;
    EXPECT_EQ(sharedBytes(problem, config) - sharedBytes(alone, config), config.blockM * config.blockN * 4);
  }
}

// The pick is at most 5 % slower than the fastest measured schedule. Among the schedules of another library, only those
// count that this compiler can build, and only measured candidates; among this compiler's kernels, all count, and the
// pick must be one of them.
TEST(CostModel, picksAreFastWhereSchedulesWereMeasured) {
  std::vector<MeasuredShape> measured = readSchedules(TILE_SCHEDULES);
  ASSERT_EQ(measured.size(), 14u);
  for (const MeasuredShape &shape : measured) {
    std::optional<double> ratio;
    for (const GemmEstimate &estimate : rankGemmConfigs(hopper, shape.problem))
      if (!ratio)
        ratio = shape.ratioOf(estimate.config);
    ASSERT_TRUE(ratio) << shape.name << ": no candidate was measured";
    EXPECT_GE(*ratio, 0.95 * shape.bestRatio()) << shape.name;
  }
}

TEST(CostModel, picksAreFastWhereTilesWereMeasured) {
  std::vector<MeasuredShape> measured = readTiles(TILE_TILES);
  ASSERT_GE(measured.size(), 18u);
  for (const MeasuredShape &shape : measured) {
    std::optional<double> ratio = shape.ratioOf(best(hopper, shape.problem));
    ASSERT_TRUE(ratio) << shape.name << ": the pick was not measured";
    EXPECT_GE(*ratio, 0.95 * shape.bestRatio()) << shape.name;
  }
}

TEST(CostModel, timesAreRoughlyRight) {
  for (const MeasuredShape &shape : readSchedules(TILE_SCHEDULES))
    for (const Measurement &row : shape.rows)
      if (!row.pingPong && row.ratio > 0.9 * shape.bestRatio()) {
        double time = estimateGemm(hopper, shape.problem, row.config).microseconds;
        EXPECT_NEAR(time / row.microseconds, 1, 0.25) << shape.name;
      }
}
