// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the progress of long work, and its time limit.
#include "Runner/Check/Check.h"
#include "Runner/Colours.h"

#include "TestBuffers.h"

#include <thread>

using namespace tile::runner;
using tile::runtime::DataType;
using tile::test::makeBuffer;

namespace {

TimeLimit limitThatIsOver() {
  const TimeLimit limit(0.001);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return limit;
}

TEST(LongWork, saysWhatIsLeft) {
  EXPECT_EQ(progressText("simulation", 0.25, 10), "simulation: 25 %, 30 s left");
  EXPECT_EQ(progressText("simulation", 0, 2.5), "simulation: 3 s so far");
  EXPECT_EQ(progressText("check of c", 0.5, 600), "check of c: 50 %, 10 min left");
}

/// Work that never checks the limit.
void sleepBeyond(TimeLimit limit) {
  const HardLimit enforced(limit, [](const Error &error) { std::fputs(error.message.c_str(), stderr); });
  std::this_thread::sleep_for(std::chrono::seconds(100));
  std::_Exit(7);
}

TEST(HardLimit, endsTheProcess) {
  EXPECT_EXIT(sleepBeyond(TimeLimit(0.01)), testing::ExitedWithCode(1), "the time limit of 0.01 s has expired");
  for (std::optional<TimeLimit> limit : {std::optional<TimeLimit>(), std::optional(TimeLimit(1e300))})
    HardLimit(limit, [](const Error &) { ADD_FAILURE(); });
}

TEST(LongWork, stopsWhenTheTimeIsOver) {
  LongWork patient("work", std::nullopt), slow("work", TimeLimit(1000)), late("work", limitThatIsOver());
  EXPECT_TRUE(patient.reach(1, 2));
  EXPECT_TRUE(slow.reach(1, 2));
  EXPECT_FALSE(late.reach(1, 2));
  EXPECT_TRUE(late.wasStopped());
  EXPECT_EQ(late.error().message, "the time limit of 0.001 s has expired");
}

TEST(LongWork, negative_aCheckStops) {
  const int64_t size = 600;
  const HostBuffer x = makeBuffer({size, size}, std::vector<double>(size * size, 1));
  const HostBuffer y = makeBuffer({size, size}, std::vector<double>(size * size, double(size)));
  TensorNames names;
  names.buffers = {{"x", &x}, {"y", &y}};
  Result<CheckResult> late = checkOutput({"y", "x @ x", 0}, names, y, limitThatIsOver());
  ASSERT_FALSE(bool(late));
  EXPECT_EQ(late.error().message, "the time limit of 0.001 s has expired");
  Result<CheckResult> inTime = checkOutput({"y", "x @ x", 0}, names, y, TimeLimit(1000));
  ASSERT_TRUE(bool(inTime));
  EXPECT_TRUE(inTime->passed);
}

TEST(Colours, areOnWhatTheyAreOf) {
  EXPECT_EQ(paintMessages("k.tile:3:5: error: no x\n  y = x\n    ^~\n"),
            "\x1b[1mk.tile:3:5: \x1b[0m\x1b[1;31merror:\x1b[0m \x1b[1mno x\x1b[0m\n  y = x\n\x1b[1;32m    ^~\x1b[0m\n");
  // Words in quoted source lines and within other messages are not coloured.
  EXPECT_EQ(paintMessages("  # k: error: no\nterror: x\n\n"), "  # k: error: no\nterror: x\n\n");
  EXPECT_EQ(paintVerdicts("check y == x: ok, relative error 0\ntoken: okay\n"),
            "check y == x: \x1b[1;32mok\x1b[0m, relative error 0\ntoken: okay\n");
  EXPECT_EQ(paintVerdicts("a   FAILED   1e-3\n"), "a   \x1b[1;31mFAILED\x1b[0m   1e-3\n");
}

} // namespace
