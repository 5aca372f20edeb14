// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of a suite.
#include "Lab/Bench/Suite.h"

#include <gtest/gtest.h>

using namespace tile::runner;

namespace {

TEST(Suite, readsCasesCommentsAndBlankLines) {
  Result<std::vector<SuiteCase>> cases =
      parseSuite("# comment\n\nsmall gemm.cubin M=16 --graph K=16 --flops=2*M  # why\n  ragged\tother.cubin\n");
  ASSERT_TRUE(bool(cases));
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ((*cases)[0].name, "small");
  EXPECT_EQ((*cases)[0].artifact, "gemm.cubin");
  EXPECT_EQ((*cases)[0].arguments, (std::vector<std::string>{"M=16", "K=16"}));
  EXPECT_TRUE((*cases)[0].graph);
  EXPECT_EQ((*cases)[0].flops, "2*M");
  EXPECT_EQ((*cases)[1].line, 4u);
  EXPECT_FALSE((*cases)[1].graph);
  EXPECT_TRUE((*cases)[1].arguments.empty());
}

TEST(Suite, negative_errorsNameTheLine) {
  EXPECT_EQ(parseSuite("a x.cubin\nb\n").error().message, "line 2: case 'b' names no artifact");
  EXPECT_EQ(parseSuite("a x.cubin\na y.cubin\n").error().message, "line 2: the name 'a' is used twice");
  const std::vector<SuiteCase> empty = *parseSuite("a x.cubin M=1\nb y.cubin M=8..4\n");
  EXPECT_EQ(expandCases(empty, {}).error().message, "line 2: case 'b': argument 'M=8..4': range '8..4' is empty");
  EXPECT_EQ(parseSuite("a x.cubin --rounds=3\n").error().message,
            "line 1: case 'a' has the option '--rounds=3'; a case can only have --graph and --flops=EXPR");
  EXPECT_EQ(parseSuite("# nothing\n").error().message, "the suite has no case");
}

} // namespace
