// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests transactions against the examples of the CUDA best practices guide, and occupancy against known cases.
#include "Simulator/Profile/Transactions.h"
#include "Simulator/Profile/Profiler.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tile::sim;

namespace {

std::vector<uint64_t> strided(unsigned stride, unsigned count = 32) {
  std::vector<uint64_t> addresses;
  for (unsigned lane = 0; lane < count; ++lane)
    addresses.push_back(uint64_t(lane) * stride);
  return addresses;
}

TEST(Transactions, wavefronts) {
  EXPECT_EQ(countWavefronts(strided(4), 4).actual, 1u);
  EXPECT_EQ(countWavefronts(strided(0), 4).actual, 1u); // broadcast
  EXPECT_EQ(countWavefronts(strided(8), 4).actual, 2u);
  EXPECT_EQ(countWavefronts(strided(128), 4).actual, 32u); // a column of 32 words
  EXPECT_EQ(countWavefronts(strided(132), 4).actual, 1u);  // the same, padded
  EXPECT_EQ(countWavefronts(strided(2), 2).actual, 1u);
  Wavefronts wide = countWavefronts(strided(16), 16);
  EXPECT_EQ(wide.actual, 4u);
  EXPECT_EQ(wide.ideal, 4u);
  Wavefronts column = countWavefronts(strided(128), 16);
  EXPECT_EQ(column.actual, 32u);
  EXPECT_EQ(column.ideal, 4u);
}

TEST(Transactions, sectors) {
  EXPECT_EQ(countSectors(strided(4), 4).actual, 4u);
  EXPECT_EQ(countSectors(strided(32), 4).actual, 32u);
  EXPECT_EQ(countSectors(strided(32), 4).ideal, 4u);
  EXPECT_EQ(countSectors(strided(0), 4).ideal, 1u);
  std::vector<uint64_t> shifted = strided(4);
  for (uint64_t &address : shifted)
    address += 4;
  EXPECT_EQ(countSectors(shifted, 4).actual, 5u);
}

TEST(Occupancy, limits) {
  const tile::target::GpuTarget &target = *tile::target::findTarget("sm_90a");
  Occupancy registers = computeOccupancy(target, 168, 384, 1024);
  EXPECT_EQ(registers.ctas, 1u);
  EXPECT_EQ(registers.limit, "registers");
  Occupancy shared = computeOccupancy(target, 32, 128, 100 * 1024);
  EXPECT_EQ(shared.ctas, 2u);
  EXPECT_EQ(shared.limit, "shared memory");
  Occupancy threads = computeOccupancy(target, 16, 1024, 0);
  EXPECT_EQ(threads.ctas, 2u);
  EXPECT_EQ(threads.warps, 1.0);
  EXPECT_EQ(computeOccupancy(target, 16, 32, 0).limit, "CTAs");
}

} // namespace
