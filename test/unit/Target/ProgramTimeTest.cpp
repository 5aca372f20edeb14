// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the time model for kernels whose work per program is known, by properties that any such model must have.
#include "Target/ProgramTime.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &hopper() {
  return *findTarget("sm_90a");
}

double timeOf(const ProgramWork &work, ProgramResources resources = {.threads = 128, .registers = 32}) {
  return ProgramTime(hopper(), resources, 132).microseconds(work);
}

/// Rows of a GEMM-like loop over K = 4096 in steps of 64, with 4096 columns in blocks of 128.
ProgramWork rowsInBlocks(double rows, double block) {
  const double steps = 64;
  return {.steps = steps / 2,
          .exchanges = steps,
          .bytes = steps * (block * 64 * 2 + 64 * 128 / 2),
          .tensorFlops = steps * 2 * block * 128 * 64,
          .operations = steps * 64 * 128 * 4,
          .programs = std::ceil(rows / block) * 32,
          .uniqueBytes = 4096 * 4096 / 2 + rows * 4096 * 4};
}

TEST(ProgramTime, growsWithEachPartOfTheWork) { // as far as other CTAs do not hide this work
  const ProgramWork work{.steps = 4,
                         .exchanges = 4,
                         .bytes = 1 << 16,
                         .tensorFlops = 1 << 24,
                         .operations = 1 << 16,
                         .special = 1 << 12,
                         .programs = 2000,
                         .uniqueBytes = 1 << 20};
  for (double ProgramWork::*part :
       {&ProgramWork::steps, &ProgramWork::exchanges, &ProgramWork::bytes, &ProgramWork::tensorFlops,
        &ProgramWork::operations, &ProgramWork::special, &ProgramWork::programs, &ProgramWork::uniqueBytes}) {
    ProgramWork more = work;
    more.*part *= 1024;
    EXPECT_GT(timeOf(more), timeOf(work));
  }
}

TEST(ProgramTime, takesSmallBlocksForFewRowsAndLargeOnesForMany) {
  EXPECT_LT(timeOf(rowsInBlocks(16, 16)), timeOf(rowsInBlocks(16, 128)));
  EXPECT_GT(timeOf(rowsInBlocks(8192, 16)), timeOf(rowsInBlocks(8192, 128)));
}

TEST(ProgramTime, readsAgainFromMemoryWhatL2HasEvicted) {
  const double rows = 8192, rowBytes = 32768;
  const ProgramWork once{.steps = 8, .bytes = 3 * rowBytes, .programs = rows, .uniqueBytes = 2 * rows * rowBytes};
  ProgramWork twice = once;
  twice.rereadBytes = rowBytes;
  const ProgramResources many{.threads = 64, .registers = 32}, few{.threads = 512, .registers = 64};
  EXPECT_GT(timeOf(twice, many), 1.3 * timeOf(once, many));
  EXPECT_LT(timeOf(twice, few), 1.1 * timeOf(once, few));
}

TEST(ProgramTime, isThatOfMemoryWhereProgramsAreMany) {
  const double bytes = 1e9;
  const ProgramWork copy{.steps = 1, .bytes = 8192, .programs = bytes / 8192, .uniqueBytes = bytes};
  const double atDataSheet = bytes / 4800 / 1000;
  EXPECT_GT(timeOf(copy), atDataSheet);
  EXPECT_LT(timeOf(copy), 1.5 * atDataSheet);
}

TEST(ProgramTime, hidesLatencyByResidentCtas) {
  const ProgramWork chains{.steps = 100, .bytes = 100 * 512, .programs = 4096, .uniqueBytes = 1 << 20};
  EXPECT_GT(timeOf(chains, {.threads = 128, .registers = 255}),
            1.5 * timeOf(chains, {.threads = 128, .registers = 64}));
  EXPECT_GT(timeOf(chains, {.threads = 128, .registers = 32, .sharedBytes = 200000}),
            1.5 * timeOf(chains, {.threads = 128, .registers = 32}));
  EXPECT_EQ(ProgramTime(hopper(), {.threads = 128, .residentCtas = 2}, 132).resident(), 2);
}

TEST(ProgramTime, countsTheLastWave) {
  const ProgramResources alone{.threads = 128, .sharedBytes = 200000};
  ProgramWork work{.steps = 1000, .bytes = 1000, .programs = 132, .uniqueBytes = 1000};
  const double one = timeOf(work, alone);
  work.programs = 133;
  EXPECT_GT(timeOf(work, alone), 1.8 * one);
}

TEST(ProgramTime, hasNoWorkWithoutPrograms) {
  EXPECT_LT(timeOf({.steps = 10, .bytes = 1000, .programs = 0, .uniqueBytes = 1000}), 5);
}

} // namespace
