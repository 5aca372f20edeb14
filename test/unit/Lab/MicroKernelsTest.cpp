// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the micro-benchmarks for several targets on the simulator: loops end, all threads record the result of the work
// that the figure counts, and no access is unordered.
#include "Lab/Calibrate/CardMeter.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/Parser.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tile;
using namespace tile::runner;

namespace {

constexpr uint32_t ctas = 2, dataBytes = 1 << 20;

/// The words that a launch leaves in memory: three words of 64 bits and one that is unused for each CTA, then a word of
/// 32 bits for each thread.
struct Recorded {
  std::vector<uint64_t> times;
  std::vector<uint32_t> results;
};

template <typename Value> void append(std::vector<std::byte> &bytes, Value value) {
  bytes.resize(bytes.size() + sizeof(value));
  std::memcpy(bytes.data() + bytes.size() - sizeof(value), &value, sizeof(value));
}

runtime::Result<Recorded> simulate(const sim::Module &module, const MicroKernel &kernel, uint32_t iterations) {
  std::vector<uint32_t> data(dataBytes / 4, kernel.word);
  std::vector<std::byte> out(ctas * (32 + kernel.threads * 4));
  sim::GlobalMemory memory;
  sim::LaunchConfig config;
  config.grid[0] = ctas;
  config.block[0] = kernel.threads;
  config.cluster[0] = kernel.cluster;
  append(config.parameters, memory.add("out", out.data(), out.size()));
  append(config.parameters, memory.add("data", reinterpret_cast<std::byte *>(data.data()), dataBytes));
  append(config.parameters, iterations);
  append(config.parameters, uint32_t(dataBytes - 1));
  auto program = sim::Program::load(module, kernel.figure, memory);
  if (!program)
    return program.error();
  sim::Reports reports;
  sim::Machine machine(**program, memory, config, reports);
  if (runtime::Status status = machine.run(); !status)
    return status.error();
  for (const sim::Report &report : reports.all())
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: {}", report.actor.loc.ptxLine, report.message);
  Recorded recorded{std::vector<uint64_t>(ctas * 4), std::vector<uint32_t>(ctas * kernel.threads)};
  std::memcpy(recorded.times.data(), out.data(), ctas * 32);
  std::memcpy(recorded.results.data(), out.data() + ctas * 32, recorded.results.size() * 4);
  return recorded;
}

class MicroKernels : public testing::TestWithParam<const char *> {};

TEST_P(MicroKernels, computeWhatTheyCount) {
  const target::GpuTarget &gpu = *target::findTarget(GetParam());
  const std::vector<MicroKernel> kernels = microKernels(gpu);
  runtime::Result<sim::Module> module = sim::parsePtx(moduleOf(gpu, kernels));
  ASSERT_TRUE(bool(module)) << module.error().message;
  for (const MicroKernel &kernel : kernels) {
    SCOPED_TRACE(kernel.figure);
    EXPECT_NE(target::findFigure(kernel.figure), nullptr);
    for (uint32_t iterations : {1u, 3u}) {
      runtime::Result<Recorded> recorded = simulate(*module, kernel, iterations);
      ASSERT_TRUE(bool(recorded)) << recorded.error().message;
      EXPECT_GT(recorded->times[2], 0u);
      EXPECT_LT(recorded->times[4], recorded->times[5]) << "the second CTA records its times, too";
      if (kernel.operands == Operands::Equal)
        for (uint32_t result : recorded->results)
          ASSERT_TRUE(isExpected(kernel, iterations, result)) << result << " after " << iterations;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MicroKernels,
                         testing::Values("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto &tested) { return std::string(tested.param); });

TEST(CardMeter, computesFiguresFromTimes) {
  MicroKernel kernel{.figure = "fma_f32", .threads = 128};
  kernel.work = 1000;
  const MicroTimes times{.clocks = 500, .nanoseconds = 400, .clockGHz = 2};
  const auto value = [&](Quantity quantity) {
    kernel.quantity = quantity;
    return valueOf(kernel, times, /*ctas=*/4, /*iterations=*/10);
  };
  EXPECT_DOUBLE_EQ(value(Quantity::WorkPerClock), 20);
  EXPECT_DOUBLE_EQ(value(Quantity::ClocksPerStep), 0.05);
  EXPECT_DOUBLE_EQ(value(Quantity::CardWorkPerNs), 100);
  EXPECT_DOUBLE_EQ(value(Quantity::CardWorkPerClock), 50);
  EXPECT_DOUBLE_EQ(value(Quantity::Clock), 2);
}

TEST(CardMeter, reportsTheMiddleHalfAsSpread) {
  double median = 0;
  // The middle half is from 98 to 102.
  EXPECT_EQ(spreadOf({100, 90, 101, 99, 500, 98, 102, 97, 103}, median).spread, 4);
  EXPECT_EQ(median, 100);
}

} // namespace
