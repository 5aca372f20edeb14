// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values, precedence, and errors of the integer expressions.
#include "Runtime/Expression.h"
#include "Directives/Functions.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

const ExpressionNames names = {{{"M", true}, {"N", true}, {"alpha", false}, {"num_sms", true}}, {{"BLOCK", 128}}};

/// M = 300, N = -7, num_sms = 132.
Evaluation evaluate(const std::string &text) {
  Result<Expression> expression = Expression::compile(text, names);
  EXPECT_TRUE(bool(expression)) << text << ": " << (expression ? "" : expression.error().message);
  if (!expression)
    return {};
  const int64_t slots[] = {300, -7, 0, 132};
  return expression->evaluate(slots);
}

std::string errorOf(const std::string &text) {
  Result<Expression> expression = Expression::compile(text, names);
  return expression ? "no error" : expression.error().message;
}

TEST(Expression, values) {
  const std::pair<const char *, int64_t> cases[] = {
      {"1", 1},
      {"M", 300},
      {"2 + 3 * 4", 14},
      {"(2 + 3) * 4", 20},
      {"10 - 3 - 2", 5},
      {"-M + 1", -299},
      {"- -3", 3},
      {"2 * -3", -6},
      {"cdiv(M, BLOCK)", 3},
      {"cdiv(256, BLOCK) * cdiv(M, 100)", 6},
      {"N // 2", -4}, // towards minus infinity
      {"N % 2", 1},
      {"7 / 2", 3},
      {"min(M, num_sms)", 132},
      {"max(1, 2, 3)", 3},
      {"min(4, 2, 3)", 2},
      {"next_power_of_2(300)", 512},
      {"next_power_of_2(0)", 1},
      {"M > 299", 1},
      {"M != 300", 0},
      {"M <= 300 and N < 0", 1},
      {"not M", 0},
      {"not not M", 1},
      {"0 or 5", 5},
      {"0 and 1 // 0", 0}, // not evaluated
      {"1 if M > 100 else 2", 1},
      {"1 if M > 1000 else 2 if N < 0 else 3", 2},
      {"1 // 0 if False else 9", 9}, // the branch not taken is not evaluated
      {"(1 if N > 0 else 2) * 10 + (3 if M else 4)", 23},
      {"(5 if (1 if N else 0) else 6) + 1", 6},
  };
  for (const auto &[text, expected] : cases) {
    const Evaluation evaluation = evaluate(text);
    EXPECT_EQ(evaluation.error, EvaluationError::None) << text;
    EXPECT_EQ(evaluation.value, expected) << text;
  }
}

TEST(Expression, powers) {
  EXPECT_EQ(evaluate("2**20").value, 1048576);
  EXPECT_EQ(evaluate("-2 ** 2").value, -4);
  EXPECT_EQ(evaluate("(-2) ** 3").value, -8);
  EXPECT_EQ(evaluate("2 ** 3 ** 2").value, 512);
  EXPECT_EQ(evaluate("3 * 2**4 // 5").value, 9);
  EXPECT_EQ(evaluate("0 ** 0").value, 1);
  EXPECT_EQ(evaluate("(-2) ** 63").value, INT64_MIN);
  EXPECT_EQ(evaluate("1 ** 9223372036854775807").value, 1);
  EXPECT_EQ(evaluate("2 ** 63").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("2 ** -1").error, EvaluationError::NegativeOperand);
}

TEST(Expression, nestedConditionalInTheValueKeepsItsJumps) {
  EXPECT_EQ(evaluate("(1 if M == 300 else 2) if N == -7 else 3").value, 1);
  EXPECT_EQ(evaluate("(1 if M == 301 else 2) if N == -7 else 3").value, 2);
  EXPECT_EQ(evaluate("(1 if M == 301 else 2) if N == 7 else 3").value, 3);
  EXPECT_EQ(evaluate("(M > 1 and N < 0) if num_sms else 3").value, 1);
}

TEST(Expression, failuresAtEvaluation) {
  EXPECT_EQ(evaluate("M // 0").error, EvaluationError::DivisionByZero);
  EXPECT_EQ(evaluate("M % 0").error, EvaluationError::DivisionByZero);
  EXPECT_EQ(evaluate("cdiv(M, 0)").error, EvaluationError::DivisionByZero);
  EXPECT_EQ(evaluate("9223372036854775807 + 1").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("9223372036854775807 * 2").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("(-9223372036854775807 - 1) // -1").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("(-9223372036854775807 - 1) % -1").value, 0);
  EXPECT_EQ(evaluate("(-9223372036854775807 - 1) % 3").value, 1);
  EXPECT_EQ(evaluate("9223372036854775807 % -2").value, -1);
  EXPECT_EQ(evaluate("cdiv(-9223372036854775807 - 1, 3)").value, -3074457345618258602);
  EXPECT_EQ(evaluate("cdiv(9223372036854775807, -2)").value, -4611686018427387903);
  EXPECT_EQ(evaluate("-(-9223372036854775807 - 1)").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("next_power_of_2(9223372036854775807)").error, EvaluationError::Overflow);
  EXPECT_EQ(evaluate("next_power_of_2(N)").error, EvaluationError::NegativeOperand);
}

TEST(Expression, usedSlotsAreSortedAndUnique) {
  Result<Expression> expression = Expression::compile("N * M + N * BLOCK", names);
  ASSERT_TRUE(bool(expression));
  EXPECT_EQ(expression->usedSlots(), (std::vector<unsigned>{0, 1}));
}

TEST(Expression, negative_errorsSayWhereAndWhat) {
  EXPECT_NE(errorOf("M + Q").find("column 5: 'Q' is neither"), std::string::npos) << errorOf("M + Q");
  EXPECT_NE(errorOf("alpha * 2").find("'alpha' is not an integer parameter"), std::string::npos);
  EXPECT_NE(errorOf("cdiv(M)").find("takes 2 arguments, found 1"), std::string::npos) << errorOf("cdiv(M)");
  EXPECT_NE(errorOf("min(M)").find("2 arguments or more"), std::string::npos) << errorOf("min(M)");
  EXPECT_NE(errorOf("next_power_of_2(M, 2)").find("takes 1 argument, found 2"), std::string::npos);
  EXPECT_NE(errorOf("foo(M)").find("unknown function 'foo'; expected one of cdiv, min,"), std::string::npos);
  for (std::string_view name :
       tile::directives::namesOf(tile::directives::integerFunctions)) // functions that directives may call
    EXPECT_EQ(errorOf(std::string(name) + "(1, 2, M N").find("unknown function"), std::string::npos) << name;
  EXPECT_NE(errorOf("M @ 2").find("column 3: '@' is not an operator of integers"), std::string::npos);
  EXPECT_NE(errorOf("M + (1, 2)").find("column 5: integers have no lists"), std::string::npos);
  EXPECT_NE(errorOf("min(1, a=2)").find("min has no parameter 'a'"), std::string::npos);
  EXPECT_NE(errorOf("(M").find("expected ')' before the end"), std::string::npos);
  EXPECT_NE(errorOf("M N").find("unexpected 'N'"), std::string::npos);
  EXPECT_NE(errorOf("").find("expected a value before the end"), std::string::npos);
  EXPECT_NE(errorOf("1 if 2").find("expected 'else'"), std::string::npos);
  EXPECT_NE(errorOf("99999999999999999999").find("does not fit 64 bits"), std::string::npos);
  EXPECT_NE(errorOf("12x").find("'12x' is not a number"), std::string::npos);
  EXPECT_NE(errorOf("1.5").find("'1.5' is not an integer"), std::string::npos);
}

TEST(Expression, wideValues) {
  const std::pair<const char *, WideInteger> cases[] = {
      {"18446744073709551615", WideInteger(UINT64_MAX)},
      {"-9223372036854775808", INT64_MIN},
      {"2 ** 64 - 1", WideInteger(UINT64_MAX)},
      {"K // 2 + 1", WideInteger(1) << 63},
      {"-K - 1", -(WideInteger(1) << 64)},
      {"next_power_of_2(K)", WideInteger(1) << 64},
      {"K % 16 + K // -1 + K", 15},
      {"18446744073709551615 if K > 9223372036854775808 else 0", WideInteger(UINT64_MAX)},
  };
  const WideInteger slots[] = {WideInteger(UINT64_MAX)};
  const int64_t narrow[] = {-1};
  for (const auto &[text, value] : cases) {
    Result<Expression> expression = Expression::compile(text, {{{"K", true}}, {}});
    ASSERT_TRUE(bool(expression)) << text;
    const WideEvaluation wide = expression->evaluateWide(slots);
    EXPECT_EQ(wide.error, EvaluationError::None) << text;
    EXPECT_TRUE(wide.value == value) << text;
  }
  // With 64 bits such a literal is too large, wherever it is used.
  EXPECT_EQ(Expression::compile("18446744073709551615 - K", {{{"K", true}}, {}})->evaluate(narrow).error,
            EvaluationError::Overflow);
  EXPECT_FALSE(*Expression::compile("18446744073709551615", {}) == *Expression::compile("18446744073709551614", {}));
}

TEST(Expression, negative_depthIsBounded) {
  EXPECT_NE(errorOf(std::string(100000, '(') + "1").find("nested deeper"), std::string::npos);
  std::string right = "1";
  for (int i = 0; i < 40; ++i)
    right = "1 + (" + right + ")";
  EXPECT_NE(errorOf(right).find("intermediate values"), std::string::npos);
  EXPECT_EQ(evaluate(std::string(100000, '-') + "1").value, 1);
}

TEST(Expression, randomTextIsSurvived) {
  const std::string alphabet = "M N0129()+-*/%<>=!,.ifelsandort_ \x80";
  uint64_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += alphabet[(state >> 33) % alphabet.size()];
    }
    if (Result<Expression> expression = Expression::compile(text, names)) {
      const int64_t slots[] = {300, -7, 0, 132};
      (void)expression->evaluate(slots);
    }
  }
}

} // namespace
