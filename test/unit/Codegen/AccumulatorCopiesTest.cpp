// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of accumulators in PTX: which of them need a wait.
#include "Codegen/AccumulatorCopies.h"

#include <gtest/gtest.h>

using tile::codegen::awaitBeforeCopies;

namespace {

constexpr const char *first =
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
                         "wgmma.commit_group.sync.aligned;\n",
                     *second =
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3, %r4}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
                         "wgmma.commit_group.sync.aligned;\n",
                     *waitForAll = "wgmma.wait_group.sync.aligned 0;\n";

/// Returns true if a wait is inserted before the copy of %r2 that follows the text.
bool awaits(const std::string &text) {
  std::string copy = "\tmov.b32 \t%r9, %r2;\n", result = awaitBeforeCopies(text + copy);
  if (result == text + copy)
    return false;
  EXPECT_EQ(result, text + "\t" + waitForAll + copy);
  return true;
}

} // namespace

TEST(AccumulatorCopies, waitForWgmmas) {
  EXPECT_TRUE(awaits(first));
  EXPECT_TRUE(awaits(std::string(second) + first + "\twgmma.wait_group.sync.aligned \t1;\n@%p1 bra $L__BB0_9;\n"));
  EXPECT_TRUE(awaits(std::string(first) + second + "wgmma.wait_group.sync.aligned 2;\n"));
}

TEST(AccumulatorCopies, waitOnce) {
  std::string text = std::string(first) + "mov.b32 %r9, %r1;\nmov.b32 %r10, %r2;\n";
  EXPECT_EQ(awaitBeforeCopies(text),
            std::string(first) + "\t" + waitForAll + "mov.b32 %r9, %r1;\nmov.b32 %r10, %r2;\n");
}

TEST(AccumulatorCopies, waitOnOnePath) {
  std::string inFlight = std::string("@%p1 bra $L__BB0_2;\n") + first + "$L__BB0_2:\n";
  EXPECT_TRUE(awaits(inFlight));
  EXPECT_TRUE(awaits(std::string(first) + "@%p1 bra $L__BB0_3;\n" + waitForAll + "bra.uni $L__BB0_3;\n$L__BB0_3:\n"));
}

TEST(AccumulatorCopies, negative_otherPaths) {
  EXPECT_FALSE(awaits(std::string("@%p1 bra $L__BB0_4;\n") + first + "bra.uni $L__BB0_5;\n$L__BB0_4:\n"));
}

TEST(AccumulatorCopies, negative_doNotWait) {
  EXPECT_FALSE(awaits(""));
  EXPECT_FALSE(awaits(second));
  EXPECT_FALSE(awaits(std::string(first) + waitForAll));
  EXPECT_FALSE(awaits(std::string(first) + second + "wgmma.wait_group.sync.aligned 1;\n"));
  // Overwriting is a different error, which a wait here does not fix.
  std::string overwritten = std::string(first) + "mov.b32 %r2, %r9;\n";
  EXPECT_EQ(awaitBeforeCopies(overwritten), overwritten);
}
