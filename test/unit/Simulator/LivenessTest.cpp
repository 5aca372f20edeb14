// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Ptx/Liveness.h"

#include "Simulator/Ptx/Parser.h"

#include <gtest/gtest.h>

using namespace tile::sim;

static std::vector<uint32_t> liveOf(const std::string &body) {
  const auto module = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n" +
                               body + "\n}\n");
  EXPECT_TRUE(bool(module)) << (module ? "" : module.error().message);
  return liveRegisters(module->functions.front());
}

TEST(Liveness, aValueLivesFromItsDefinitionToItsLastUse) {
  EXPECT_EQ(liveOf("mov.b32 %r1, 1;\nmov.b32 %r2, 2;\nadd.s32 %r3, %r1, %r2;\nst.global.b32 [0], %r3;\nret;"),
            (std::vector<uint32_t>{1, 2, 3, 1, 0}));
}

TEST(Liveness, wideValuesCountTwiceAndPredicatesNot) {
  EXPECT_EQ(liveOf("ld.param.b64 %rd1, [p];\nsetp.eq.b64 %p1, %rd1, 0;\n@%p1 ret;\nst.global.b64 [%rd1], %rd1;\nret;"),
            (std::vector<uint32_t>{2, 2, 2, 2, 0}));
}

TEST(Liveness, whatALoopNeedsAgainStaysLive) {
  // %r1 is read in each iteration, %r2 is loop-carried.
  EXPECT_EQ(
      liveOf("mov.b32 %r1, 1;\nmov.b32 %r2, 0;\nL:\nadd.s32 %r2, %r2, %r1;\nsetp.lt.s32 %p1, %r2, 9;\n@%p1 bra L;\n"
             "st.global.b32 [0], %r2;\nret;"),
      (std::vector<uint32_t>{1, 2, 2, 2, 2, 1, 0}));
}

TEST(Liveness, aGuardedDefinitionKeepsTheOldValue) {
  EXPECT_EQ(liveOf("mov.b32 %r1, 1;\nsetp.eq.s32 %p1, %r1, 1;\nmov.b32 %r2, 3;\n@%p1 mov.b32 %r2, 4;\n"
                   "st.global.b32 [0], %r2;\nret;"),
            (std::vector<uint32_t>{1, 1, 1, 1, 1, 0}));
}
