// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the bottleneck of a kernel for values such as those of an H200.
#include "Lab/Bench/Roofline.h"
#include "Lab/Results/CompareResults.h"

#include <gtest/gtest.h>

using namespace tile::runner;

namespace {

/// An H200 at 1.5 GHz: 4 TB/s, 700 TFLOP/s; 12.7 TB/s from L2, 3.2e12 special operations per second.
RooflineFacts factsOf(double microseconds) {
  RooflineFacts facts;
  facts.coldMicroseconds = facts.warmMicroseconds = microseconds;
  facts.ceilings.memoryBytes = 4e12;
  facts.ceilings.flops = 700e12;
  facts.ceilings.flopsBy = "cuBLAS";
  facts.ceilings.launchMicroseconds = 1;
  facts.clockMhz = 1500;
  facts.multiprocessors = 132;
  facts.occupancy = {2, 8, 64, "registers"};
  facts.programs = 264 * 20;
  return facts;
}

TEST(Roofline, theResourceWithNearlyAllOfTheTimeBinds) {
  RooflineFacts facts = factsOf(100);
  facts.memoryBytes.value = facts.minBytes = 380e6; // 95 us
  facts.flops.value = 7e9;                          // 10 us
  const RooflineVerdict verdict = judge(facts);
  EXPECT_EQ(verdict.bound, "memory");
  EXPECT_EQ(verdict.evidence, "3800 GB/s, 95 % of the 4000 GB/s of a copy");
  EXPECT_NEAR(verdict.shares[1].share, 0.1, 1e-9);
  facts.flops.value = 69e9;
  facts.memoryBytes.value = 100e6;
  EXPECT_EQ(judge(facts).bound, "tensor cores");
  facts.flops.value = 0;
  facts.l2Bytes.value = 1.2e9; // the maximum is 12.7 TB/s
  EXPECT_EQ(judge(facts).bound, "L2");
  facts.l2Bytes.value = 0;
  facts.special.value = 300e6; // the maximum is 3.2e12 per second
  EXPECT_EQ(judge(facts).bound, "special functions");
}

TEST(Roofline, bytesThatMoveAgainAreSaidByCounters) {
  RooflineFacts facts = factsOf(100);
  facts.minBytes = 190e6;
  facts.memoryBytes = {380e6, true};
  EXPECT_EQ(judge(facts).advice, "2.00 times the minimum traffic: keep reused data in shared memory or registers");
}

TEST(Roofline, twoThatAddUpTakeTurns) {
  RooflineFacts facts = factsOf(100);
  facts.flops.value = 36e9;    // 51 %
  facts.special.value = 100e6; // 32 %
  const RooflineVerdict verdict = judge(facts);
  EXPECT_EQ(verdict.bound, "tensor cores and special functions, alternating");
  EXPECT_EQ(verdict.evidence, "51 % and 32 % of the time, one while the other waits");
}

TEST(Roofline, shortKernelsAreBoundByTheirLaunch) {
  RooflineFacts facts = factsOf(1.5);
  facts.memoryBytes.value = 1e5;
  EXPECT_EQ(judge(facts).bound, "launch");
}

TEST(Roofline, withoutAResourceItIsTheTailOrLatency) {
  RooflineFacts facts = factsOf(100);
  facts.programs = 265; // two waves, the second of one block
  RooflineVerdict verdict = judge(facts);
  EXPECT_EQ(verdict.bound, "tail");
  EXPECT_EQ(verdict.evidence, "265 thread blocks make 1.00 waves: 50 % of the multiprocessors' time is used");
  facts.programs = 264;
  verdict = judge(facts);
  EXPECT_EQ(verdict.bound, "latency");
  EXPECT_EQ(verdict.evidence, "no resource is busy most of the time, with 16 of 64 warps per multiprocessor "
                              "(limited by registers)");
}

TEST(Roofline, countersOfThePipeCountWhereTheyShowMore) {
  RooflineFacts facts = factsOf(100);
  facts.flops.value = 35e9;
  facts.tensorShare = Figure{0.9, true};
  const RooflineVerdict verdict = judge(facts);
  EXPECT_EQ(verdict.bound, "tensor cores");
  EXPECT_EQ(verdict.evidence, "their pipe is busy in 90 % of the cycles");
}

TEST(CompareResults, theNoiseIsThatOfTheMiddleHalf) {
  EXPECT_EQ(relativeNoise({10, 10, 10, 10, 50}), 0);
  EXPECT_NEAR(relativeNoise({9, 9.5, 10, 10.5, 11}), 0.05, 1e-9);
  EXPECT_EQ(relativeNoise({1, 2, 3}), 0);
}

} // namespace
