// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests lower bounds of times against the formula, for kernels of every kind and sizes from one to beyond 32 bits.
#include "Target/LeastTimes.h"

#include <gtest/gtest.h>
#include <random>

using namespace tile::target;

namespace {

class Kernels {
public:
  explicit Kernels(std::mt19937_64 &random) : random(random) {}

  ScheduleFormula next() {
    GemmProblem problem;
    problem.numSms = pick({132, 66, 108, 7});
    problem.element = flip() ? MmaType::BF16 : MmaType::F8E4M3;
    problem.outputBytes = pick({2, 4});
    problem.plainStores = flip();
    problem.aKMajor = flip();
    problem.bKMajor = flip();
    problem.splitTail = flip();
    problem.asyncCopies = flip();
    problem.copyBytes = pick({16, 4, 2});
    GemmConfig config{pick({16, 64, 128, 144, 256}),
                      pick({32, 64, 96, 128, 256}),
                      pick({32, 64, 128}),
                      8,
                      pick({4, 8}),
                      pick({2, 3, 5}),
                      random() % 4 != 0};
    GemmSchedule schedule{.persistent = flip()};
    if (config.wgmma && random() % 3 == 0) {
      problem.element = MmaType::BF16;
      schedule.pingPong = true;
      config.numWarps = 4;
      config.blockM = config.blockN = flip() ? 128 : 64;
    } else if (random() % 3 == 0) {
      schedule.ctasPerTile = pick({2, 4});
    }
    return {*findTarget("sm_90a"), problem, config, schedule};
  }

private:
  bool flip() { return random() % 2 == 0; }
  unsigned pick(std::initializer_list<unsigned> values) { return values.begin()[random() % values.size()]; }

  std::mt19937_64 &random;
};

/// Small and large sizes, round ones, and sizes that lines of L2 and tiles do not divide.
GemmSize sizeOf(std::mt19937_64 &random, unsigned maxBits) {
  const auto one = [&] {
    const int64_t size = int64_t(random() >> (64 - random() % (maxBits + 1)) % 64);
    return random() % 2 ? size & ~int64_t(63) : size;
  };
  return {one(), one(), one()};
}

} // namespace

TEST(LeastTimes, areNoLongerThanTimes) {
  std::mt19937_64 random(3);
  Kernels kernels(random);
  LeastTimes bounds;
  std::vector<ScheduleFormula> formulas;
  for (int i = 0; i < 403; ++i) { // the last group of four is incomplete
    formulas.push_back(kernels.next());
    bounds.add(formulas.back());
  }
  ASSERT_EQ(bounds.size(), formulas.size());
  std::vector<float> least(formulas.size());
  double share = 0, count = 0;
  for (unsigned maxBits : {8, 15, 15, 15, 20, 26, 40})
    for (int repetition = 0; repetition < 200; ++repetition) {
      const GemmSize size = sizeOf(random, maxBits);
      bounds.compute(size, least);
      for (size_t i = 0; i < formulas.size(); ++i) {
        const double time = formulas[i].microseconds(size);
        ASSERT_LE(least[i], time) << "kernel " << i << ": " << size.m << 'x' << size.n << 'x' << size.k;
        share += least[i] / time;
        ++count;
      }
    }
  EXPECT_GT(share / count, 0.9); // otherwise no kernel would be excluded
}

TEST(LeastTimes, sizesBelowOneCountAsOne) {
  LeastTimes bounds;
  std::mt19937_64 random(5);
  bounds.add(Kernels(random).next());
  float none = 0, one = 0;
  bounds.compute({0, -5, INT64_MIN}, {&none, 1});
  bounds.compute({1, 1, 1}, {&one, 1});
  EXPECT_EQ(none, one);
}
