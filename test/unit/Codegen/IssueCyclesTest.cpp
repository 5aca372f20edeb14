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

TEST(IssueCycles, negative_whatIsNotUnderstood) {
  EXPECT_EQ(issueCycles(""), 0u);
  EXPECT_EQ(issueCycles("PTX"), 0u);
}
