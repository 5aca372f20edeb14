// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges in arguments.
#include "Lab/Bench/Sweep.h"

#include <gtest/gtest.h>

using namespace tile::runner;

namespace {

std::vector<std::string> valuesOf(const std::string &argument) {
  const std::vector<std::string> arguments = {argument};
  Result<std::vector<SweepPoint>> points = expandSweep(arguments);
  std::vector<std::string> values;
  if (points)
    for (const SweepPoint &point : *points)
      values.push_back(point.arguments[0]);
  return values;
}

TEST(Sweep, rangesDoubleOrStep) {
  EXPECT_EQ(valuesOf("M=2^3..2^5"), (std::vector<std::string>{"M=8", "M=16", "M=32"}));
  EXPECT_EQ(valuesOf("M=3..20"), (std::vector<std::string>{"M=3", "M=6", "M=12"}));
  EXPECT_EQ(valuesOf("M=0..256:128"), (std::vector<std::string>{"M=0", "M=128", "M=256"}));
  EXPECT_EQ(valuesOf("M=1,2^4,5..6:1"), (std::vector<std::string>{"M=1", "M=16", "M=5", "M=6"}));
  EXPECT_EQ(valuesOf("M=9223372036854775807..9223372036854775807"), std::vector<std::string>{"M=9223372036854775807"});
}

TEST(Sweep, otherValuesStayAsTheyAre) {
  for (const char *argument : {"M=512", "n=cdiv(M, 4) * 4", "a=[3, 1, 2]", "a=randint(0, 9)", "a=../x.npy", "alpha=0.5",
                               "M", "n=(a==b)", "n=a==b"})
    EXPECT_EQ(valuesOf(argument), std::vector<std::string>{argument}) << argument;
}

TEST(Sweep, namesCanBeTiedAndRangesCombined) {
  const std::vector<std::string> arguments = {"M=N=4,8", "K=1,2", "lda=K"};
  Result<std::vector<SweepPoint>> points = expandSweep(arguments);
  ASSERT_TRUE(bool(points));
  ASSERT_EQ(points->size(), 4u);
  EXPECT_EQ((*points)[1].arguments, (std::vector<std::string>{"M=4", "N=4", "K=2", "lda=K"}));
  EXPECT_EQ((*points)[1].varying, "M=N=4 K=2");
  EXPECT_EQ((*points)[2].varying, "M=N=8 K=1");
}

TEST(Sweep, negative_numbersOfMoreThan64Bits) {
  const std::pair<const char *, const char *> cases[] = {
      {"M=2^99", "2^99 does not fit a signed 64-bit integer"},
      {"M=1..2^99", "2^99 does not fit a signed 64-bit integer"},
      {"M=1,2^63", "2^63 does not fit a signed 64-bit integer"},
      {"M=1..4:9223372036854775808", "9223372036854775808 does not fit a signed 64-bit integer"},
      {"M=1..x", "'1..x' is not a range; expected LOW..HIGH"},
  };
  for (const auto &[argument, expected] : cases) {
    const std::vector<std::string> arguments = {argument};
    Result<std::vector<SweepPoint>> points = expandSweep(arguments);
    ASSERT_FALSE(bool(points)) << argument;
    EXPECT_NE(points.error().message.find(expected), std::string::npos) << points.error().message;
  }
  EXPECT_EQ(valuesOf("a=x^y.npy"), std::vector<std::string>{"a=x^y.npy"});
}

} // namespace
