// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The grammar that directives, arguments, fillings and breakpoints share: what is printed is read as the same tree.
#include "Directives/ExpressionTree.h"

#include <gtest/gtest.h>

using namespace tile::directives;

namespace {

std::string printed(const std::string &text) {
  const ParsedExpression parsed = parseExpression(text);
  return parsed ? parsed.tree.print() : parsed.error;
}

TEST(ExpressionTree, printsFewParentheses) {
  const std::pair<const char *, const char *> cases[] = {
      {"(a*b)+c", "a * b + c"},
      {"(a + b) * -c", "(a + b) * -c"},
      {"a - (b - c) - d", "a - (b - c) - d"},
      {"(a ** b) ** c ** -d", "(a ** b) ** c ** -d"},
      {"(-a) ** 2 + -(a ** 2)", "(-a) ** 2 + -a ** 2"},
      {"not (a or b) and c", "not (a or b) and c"},
      {"(a < b) == (c)", "(a < b) == c"},
      {"a if b else (c if d else e)", "a if b else c if d else e"},
      {"(a if b else c) + 1", "(a if b else c) + 1"},
      {"min( a,b , )", "min(a, b)"},
      {"f(1e-3, seed = 3)", "f(1e-3, seed=3)"},
      {"[1,[2, 3]]", "[1, [2, 3]]"},
      {"pid==(1,)", "pid == (1,)"},
      {"x[ i+1,:] @ y", "x[i + 1, :] @ y"},
  };
  for (const auto &[text, expected] : cases) {
    EXPECT_EQ(printed(text), expected);
    EXPECT_EQ(printed(expected), expected);
  }
}

TEST(ExpressionTree, knowsItsText) {
  const std::string text = "f( (a + 1) * 2 , seed=3)";
  const ParsedExpression parsed = parseExpression(text);
  ASSERT_TRUE(bool(parsed)) << parsed.error;
  EXPECT_EQ(parsed.tree.operands[0].textIn(text), "(a + 1) * 2");
  EXPECT_EQ(parsed.tree.operands[0].begin, 11u);
  EXPECT_EQ(parsed.tree.operands[1].keyword, "seed");
  EXPECT_EQ(parsed.tree.operands[1].textIn(text), "3");
}

TEST(ExpressionTree, negative_saysWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "in expression '', column 1: expected a value before the end"},
      {"a +", "column 4: expected a value before the end"},
      {"f(a", "column 4: expected ')' before the end"},
      {"x[2:, 1]", "column 4: expected ']', found ':'"},
      {"a b", "column 3: unexpected 'b'"},
      {"a if b", "column 7: expected 'else' before the end"},
      {"1e", "'1e' is not a number"},
      {"a = 3", "unexpected '='"},
      {"a < b < c", "column 7: unexpected '<'"},
      {"1 + and", "unexpected 'and'"},
      {"\x80", "unexpected '\x80'"},
      {"2^N", "column 2: unexpected '^'; write ** for powers"},
      {"f(a, axis=1, axis=2)", "column 14: argument 'axis' is given twice"},
      {"f(axis=1, a)", "column 11: an argument without a name after 'axis='"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_NE(printed(text).find(expected), std::string::npos) << text << "\n  got: " << printed(text);
  EXPECT_NE(printed(std::string(100000, '[')).find("nested deeper than 64 levels"), std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 10000; ++i)
    sum += "+1";
  EXPECT_NE(printed(sum).find("more than 10000 operations"), std::string::npos);
}

} // namespace
