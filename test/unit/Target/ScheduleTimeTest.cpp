// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The additional cost of schedules: their order as measured on an H200.
#include "Target/ScheduleTime.h"
#include "Target/PingPong.h"
#include "Target/StepSplit.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &hopper() {
  return *findTarget("sm_90a");
}

double time(const GemmProblem &problem, const GemmConfig &config, const GemmSchedule &schedule) {
  return estimateSchedule(hopper(), problem, config, schedule);
}

constexpr GemmConfig square{128, 128, 64, 8, 8, 5, true};
constexpr GemmConfig teams{128, 128, 64, 8, 4, 5, true};

} // namespace

TEST(ScheduleTime, oneTileEachNeedsNoPersistence) {
  const GemmProblem oneWave{.m = 1024, .n = 1024, .k = 1024}, waves{.m = 4096, .n = 4096, .k = 1024};
  EXPECT_LT(time(oneWave, square, {.persistent = false}), time(oneWave, square, {.persistent = true}));
  EXPECT_GT(time(waves, square, {.persistent = false}), time(waves, square, {.persistent = true}));
}

TEST(ScheduleTime, splitTailsPayOnlyWhereTheyAreSplit) {
  GemmProblem even{.m = 128 * 132, .n = 128, .k = 4096}, uneven{.m = 128 * 12, .n = 128 * 12, .k = 16384};
  GemmProblem evenWhole = even, unevenWhole = uneven;
  evenWhole.splitTail = unevenWhole.splitTail = false;
  EXPECT_GT(time(even, square, {}), time(evenWhole, square, {}));
  EXPECT_LT(time(uneven, square, {}), time(unevenWhole, square, {}));
  // Only persistent kernels can split the last wave.
  EXPECT_EQ(time(uneven, square, {.persistent = false}), time(unevenWhole, square, {.persistent = false}));
}

TEST(ScheduleTime, agreesWithPrefersPingPong) {
  for (int64_t k : {256, 512, 1024, 2048, 8192})
    for (int64_t m : {1024, 2048, 4096, 8192}) {
      GemmProblem problem{.m = m, .n = m, .k = k, .splitTail = false};
      const GemmEstimate best = rankGemmConfigs(hopper(), problem).front();
      const std::optional<GemmEstimate> turns = findPingPong(hopper(), problem, {});
      ASSERT_TRUE(turns);
      if (isSwapped(best.config) || !prefersPingPong(hopper(), problem, best, *turns))
        continue;
      EXPECT_LT(time(problem, turns->config, {.pingPong = true}), time(problem, best.config, {})) << m << ' ' << k;
    }
  const GemmProblem measured{.m = 4096, .n = 4096, .k = 512, .splitTail = false};
  EXPECT_LT(time(measured, teams, {.pingPong = true}), time(measured, square, {}));
  const GemmProblem deep{.m = 4096, .n = 4096, .k = 8192, .splitTail = false};
  EXPECT_GT(time(deep, teams, {.pingPong = true}), time(deep, square, {}));
}

TEST(ScheduleTime, agreesWithChooseStepSplit) {
  for (const GemmProblem &problem : {GemmProblem{.m = 256, .n = 512, .k = 8192, .splitTail = false},
                                     GemmProblem{.m = 64, .n = 1024, .k = 8192, .splitTail = false},
                                     GemmProblem{.m = 512, .n = 512, .k = 2048, .splitTail = false}}) {
    const GemmEstimate best = rankGemmConfigs(hopper(), problem).front();
    const unsigned chosen = chooseStepSplit(hopper(), problem, best);
    for (unsigned ctas : {1u, 2u, 4u})
      EXPECT_LE(time(problem, best.config, {.ctasPerTile = chosen}), time(problem, best.config, {.ctasPerTile = ctas}));
  }
  // CTAs that do not run at once take several rounds.
  const GemmProblem many{.m = 4096, .n = 4096, .k = 4096, .splitTail = false};
  EXPECT_GT(time(many, square, {.ctasPerTile = 4}), time(many, square, {}));
}

TEST(ScheduleTime, sizesBelowOneCountAsOne) {
  EXPECT_EQ(time({.m = 0, .n = -3, .k = 0}, square, {}), time({.m = 1, .n = 1, .k = 1}, square, {}));
}
