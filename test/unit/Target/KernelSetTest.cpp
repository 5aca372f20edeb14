// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sets of kernels: the loss of a small set compared with all possible kernels.
#include "Target/KernelSet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace tile::target;

namespace {

const GpuTarget &hopper() {
  return *findTarget("sm_90a");
}

GemmProblem gemmProblem(bool bKMajor) {
  return {.element = MmaType::BF16, .aKMajor = true, .bKMajor = bKMajor};
}

/// Returns the loss of the best of the kernels against the best of all, for each size.
std::vector<double> lossesOf(const GemmProblem &problem, const std::vector<GemmKernel> &kernels,
                             const std::vector<GemmSize> &sizes) {
  std::vector<GemmKernel> all = listKernels(hopper(), problem, {}, {});
  std::vector<double> losses;
  auto least = [&](const std::vector<GemmKernel> &among, const GemmSize &size) {
    double time = INFINITY;
    for (const GemmKernel &kernel : among)
      time = std::min(time, estimateKernel(hopper(), problem, kernel, size));
    return time;
  };
  for (const GemmSize &size : sizes)
    losses.push_back(least(kernels, size) / least(all, size) - 1);
  return losses;
}

double meanOf(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / double(values.size());
}

size_t countAbove(const std::vector<double> &values, double limit) {
  return size_t(std::count_if(values.begin(), values.end(), [&](double value) { return value > limit; }));
}

/// Sizes of bench/suites/dense.suite, where rows are aligned.
const std::vector<GemmSize> denseSuite = {
    {512, 512, 512},     {1024, 1024, 1024},  {1536, 1536, 1536},    {2048, 2048, 2048}, {3072, 3072, 3072},
    {4096, 4096, 4096},  {8192, 8192, 8192},  {16384, 16384, 16384}, {4096, 8192, 8192}, {4096, 28672, 8192},
    {4096, 8192, 28672}, {8192, 10240, 8192}, {8192, 1024, 8192},    {1024, 1024, 8192}, {512, 8192, 8192},
    {256, 8192, 8192},   {128, 8192, 8192},   {64, 8192, 8192},      {16, 8192, 8192},   {1, 8192, 8192},
    {16, 28672, 8192},   {16, 4096, 4096},
};

std::vector<GemmSize> drawSizes(size_t number) {
  std::mt19937 random(22); // NOLINT: the same in each run
  auto next = [&] { return int64_t(std::llround(std::exp(std::log(16384.0) * (random() / 4294967296.0)))); };
  std::vector<GemmSize> sizes;
  for (size_t i = 0; i < number; ++i) {
    int64_t m = next(), n = next(), k = next();
    sizes.push_back({m, n, k});
  }
  return sizes;
}

} // namespace

TEST(KernelSet, sixteenLoseLittle) {
  for (bool bKMajor : {false, true}) {
    GemmProblem problem = gemmProblem(bKMajor);
    KernelSet set = chooseKernels(hopper(), problem, {}, {}, sampleSizes({}), {.most = 16});
    EXPECT_LE(set.kernels.size(), 16u);
    std::vector<double> dense = lossesOf(problem, set.kernels, denseSuite);
    EXPECT_EQ(countAbove(dense, 0.06), 0u);
    EXPECT_LT(meanOf(dense), 0.01);
    std::vector<double> drawn = lossesOf(problem, set.kernels, drawSizes(60));
    EXPECT_LT(meanOf(drawn), 0.035);
    EXPECT_LE(countAbove(drawn, 0.05), 14u);
    EXPECT_LE(countAbove(drawn, 0.15), 2u);
  }
}

TEST(KernelSet, moreLoseLess) {
  std::vector<SampledSize> sizes = sampleSizes({});
  double before = INFINITY;
  for (size_t most : {1, 4, 12}) {
    KernelSet set = chooseKernels(hopper(), gemmProblem(true), {}, {}, sizes, {.most = most});
    EXPECT_EQ(set.kernels.size(), most);
    EXPECT_EQ(set.choices.size(), sizes.size());
    EXPECT_LT(set.meanLoss(), before);
    before = set.meanLoss();
  }
}

TEST(KernelSet, oneSizeHasOneKernel) {
  std::vector<SampledSize> sizes = sampleSizes({.m = 4096, .n = 4096, .k = 4096});
  ASSERT_EQ(sizes.size(), 1u);
  KernelSet set = chooseKernels(hopper(), gemmProblem(true), {}, {}, sizes, {.most = 8});
  ASSERT_EQ(set.kernels.size(), 1u);
  EXPECT_EQ(set.worstLoss(), 0);
  EXPECT_EQ(set.kernels[0].config.blockM * set.kernels[0].config.blockN, 128u * 256);
}

TEST(KernelSet, samplesKeepWhatIsKnown) {
  for (const SampledSize &sampled : sampleSizes({.k = 100}))
    EXPECT_EQ(sampled.size.k, 100);
}

// Tiles and split steps are chosen together: 128x128 in halves, where the best whole tile is 64x128.
TEST(KernelSet, fewTilesOfManySteps) {
  GemmProblem problem = gemmProblem(true);
  KernelSet set = chooseKernels(hopper(), problem, {}, {}, sampleSizes({.m = 256, .n = 4096, .k = 14336}), {.most = 1});
  EXPECT_EQ(set.kernels[0].schedule.ctasPerTile, 2u);
  EXPECT_EQ(set.kernels[0].config.blockM * set.kernels[0].config.blockN, 128u * 128);
}

TEST(KernelSet, sameOrder) {
  std::vector<GemmKernel> kernels = listKernels(hopper(), gemmProblem(true), {}, {.sameOrder = true});
  EXPECT_GT(kernels.size(), 20u);
  for (const GemmKernel &kernel : kernels) {
    EXPECT_FALSE(kernel.splitTail);
    EXPECT_EQ(kernel.schedule.ctasPerTile, 1u);
    EXPECT_FALSE(isSwapped(kernel.config));
  }
}

TEST(KernelSet, choicesAreKept) {
  for (const GemmKernel &kernel : listKernels(hopper(), gemmProblem(true), {.blockM = 128, .groupM = 3}, {})) {
    EXPECT_EQ(kernel.config.blockM, 128u);
    EXPECT_EQ(kernel.config.groupM, 3u);
  }
}

TEST(KernelSet, negative_noTensorMaps) {
  GemmProblem problem = gemmProblem(true);
  problem.tensorMaps = false;
  for (const GemmKernel &kernel : listKernels(hopper(), problem, {}, {}))
    EXPECT_FALSE(kernel.config.wgmma || kernel.splitTail || kernel.schedule.persistent);
}

TEST(KernelSet, negative_rules) {
  ScheduleRules rules{.pingPong = ScheduleRules::PingPong::Never, .persistent = false};
  for (const GemmKernel &kernel : listKernels(hopper(), gemmProblem(true), {}, rules))
    EXPECT_FALSE(kernel.schedule.persistent || kernel.schedule.pingPong);
  for (const GemmKernel &kernel :
       listKernels(hopper(), gemmProblem(true), {}, {.pingPong = ScheduleRules::PingPong::Always}))
    EXPECT_TRUE(kernel.schedule.pingPong);
}
