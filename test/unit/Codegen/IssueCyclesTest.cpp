// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cycles between the instructions of machine code.
#include "Codegen/IssueCycles.h"

#include "CubinText.h"

#include <gtest/gtest.h>

using namespace tile::codegen;

namespace {

constexpr Words add{0x0000000705057221, 0x000fe40000000000};        // FADD R5, R5, R7, and two cycles
constexpr Words addThenUse{0x0000000705057221, 0x000fca0000000000}; // the same for an instruction that needs R5: five

} // namespace

TEST(IssueCycles, countMoreInLoops) {
  EXPECT_EQ(issueCycles(makeCubin({add, addThenUse})), 7u);
  EXPECT_EQ(issueCycles(makeCubin({add, addThenUse, branch(-1), add})), 2u + 10 * 5 + 2);
  EXPECT_EQ(issueCycles(makeCubin({add, addThenUse, branch(-1), branch(-3), add})), 10u * 2 + 100 * 5 + 2);
}

/// An LDG that raises a counter; an instruction that awaits counters. Each takes two cycles.
constexpr Words loadInto(unsigned counter) {
  return {0x0000000402057981, 2ull << 41 | uint64_t(counter) << 46};
}
constexpr Words awaitCounters(uint64_t mask) {
  return {0x0000000705057221, 2ull << 41 | 7ull << 46 | mask << 52};
}

TEST(LoadCycles, countTheLatencyOnceForLoadsInARow) {
  EXPECT_EQ(loadCycles(makeCubin({loadInto(0), loadInto(1), awaitCounters(3), add}), 600), 2u + 600 + 2 + 2);
  // Waits for the later of the two loads.
  EXPECT_EQ(loadCycles(makeCubin({loadInto(0), loadInto(0), awaitCounters(1)}), 600), 2u + 600 + 2);
}

TEST(LoadCycles, countEachLatencyThatIsAwaited) {
  EXPECT_EQ(loadCycles(makeCubin({loadInto(0), awaitCounters(1), loadInto(0), awaitCounters(1)}), 600), 2u * (600 + 2));
  EXPECT_EQ(loadCycles(makeCubin({loadInto(0), awaitCounters(1), branch(-2)}), 600), 10u * (600 + 2));
  EXPECT_EQ(loadCycles(makeCubin({loadInto(0), awaitCounters(2)}), 600), 4u); // waits for another counter
}

TEST(IssueCycles, negative_whatIsNotUnderstood) {
  EXPECT_EQ(issueCycles(""), 0u);
  EXPECT_EQ(loadCycles("", 600), 0u);
  EXPECT_EQ(issueCycles("PTX"), 0u);
}
