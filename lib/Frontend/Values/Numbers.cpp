// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Values/Numbers.h"

#include "Frontend/Syntax/Literals.h"
#include "Frontend/Values/EvalResults.h"

#include <charconv>
#include <cmath>

namespace tile::frontend {

EvalResult absolute(const Value &value) {
  if (const double *number = std::get_if<double>(&value))
    return succeed(std::fabs(*number));
  EvalResult negative = evaluate(CompareOp::Lt, value, Int128(0));
  if (!negative.value)
    return negative;
  return evaluate(std::get<bool>(*negative.value) ? UnaryOp::Minus : UnaryOp::Plus, value);
}

EvalResult toInteger(const Value &value) {
  if (std::optional<Int128> integer = asInteger(value))
    return succeed(*integer);
  if (const double *number = std::get_if<double>(&value)) {
    constexpr double limit = 1.7e38; // just under 2^127
    if (!(std::fabs(*number) < limit))
      return fail("cannot convert " + describe(value) + " to an integer");
    return succeed(static_cast<Int128>(*number));
  }
  if (const auto *text = std::get_if<std::string>(&value)) {
    bool isNegative = text->starts_with('-');
    std::optional<Int128> integer = decodeInteger(std::string_view(*text).substr(isNegative));
    if (integer && text->find_first_not_of("0123456789-") == std::string::npos)
      return succeed(isNegative ? -*integer : *integer);
  }
  return fail("cannot convert " + describe(value) + " to an integer");
}

EvalResult toFloat(const Value &value) {
  if (std::optional<double> number = asDouble(value))
    return succeed(*number);
  if (const auto *text = std::get_if<std::string>(&value)) {
    std::string_view digits = *text;
    bool isNegative = digits.starts_with('-');
    if (isNegative || digits.starts_with('+'))
      digits.remove_prefix(1);
    double number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size())
      return succeed(isNegative ? -number : number);
  }
  return fail("cannot convert " + describe(value) + " to a float");
}

EvalResult ceilingDivision(const Value &value, const Value &divisor) {
  EvalResult less = evaluate(BinaryOp::Sub, divisor, Int128(1));
  EvalResult sum = less.value ? evaluate(BinaryOp::Add, value, *less.value) : less;
  return sum.value ? evaluate(BinaryOp::FloorDiv, *sum.value, divisor) : sum;
}

EvalResult nextPowerOfTwo(const Value &value) {
  std::optional<Int128> integer = asInteger(value);
  constexpr Int128 largest = static_cast<Int128>(1) << 126;
  if (!integer || *integer > largest)
    return fail("next_power_of_2 takes an integer up to 2**126, not " + describe(value));
  Int128 power = 1;
  while (power < *integer)
    power *= 2;
  return succeed(*integer <= 0 ? Int128(0) : power);
}

EvalResult applyReal(double (*function)(double), const Value &value, std::string_view name) {
  std::optional<double> number = asDouble(value);
  if (!number)
    return fail(std::string(name) + " takes a number, not " + describe(value));
  double result = function(*number);
  return std::isnan(result) && !std::isnan(*number) ? fail(std::string(name) + " is not defined for " + describe(value))
                                                    : succeed(result);
}

EvalResult roundReal(double (*function)(double), const Value &value, std::string_view name) {
  if (std::optional<Int128> integer = asInteger(value))
    return succeed(*integer);
  EvalResult result = applyReal(function, value, name);
  return result.value ? toInteger(*result.value) : result;
}

} // namespace tile::frontend
