// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of compile-time values: Python's builtins and Triton's host helpers that kernels call on constexprs.

#include "Frontend/Syntax/ConstEval.h"
#include "Frontend/Syntax/EvalResults.h"
#include "Frontend/Syntax/Literals.h"

#include <charconv>
#include <cmath>

namespace tile::frontend {

namespace {

using Arguments = std::vector<Value>;

EvalResult extremum(const Arguments &arguments, CompareOp op) {
  Value best = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    EvalResult better = evaluate(op, arguments[i], best);
    if (!better.value)
      return better;
    if (std::get<bool>(*better.value))
      best = arguments[i];
  }
  return succeed(best);
}

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

EvalResult cdiv(const Value &value, const Value &divisor) {
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

/// Evaluates a function of the C library on doubles.
EvalResult realFunction(const Value &value, double (*function)(double), std::string_view name) {
  std::optional<double> number = asDouble(value);
  if (!number)
    return fail(std::string(name) + " takes a number, not " + describe(value));
  double result = function(*number);
  return std::isnan(result) && !std::isnan(*number) ? fail(std::string(name) + " is not defined for " + describe(value))
                                                    : succeed(result);
}

EvalResult roundReal(const Value &value, double (*function)(double), std::string_view name) {
  if (std::optional<Int128> integer = asInteger(value))
    return succeed(*integer);
  EvalResult result = realFunction(value, function, name);
  return result.value ? toInteger(*result.value) : result;
}

std::optional<EvalResult> evaluateUnary(std::string_view name, const Value &value) {
  if (name == "abs")
    return absolute(value);
  if (name == "int")
    return toInteger(value);
  if (name == "float")
    return toFloat(value);
  if (name == "str")
    return succeed(str(value));
  if (name == "repr")
    return succeed(repr(value));
  if (name == "bool") {
    std::optional<bool> flag = truth(value);
    return flag ? succeed(*flag) : fail(describe(value) + " is neither true nor false");
  }
  if (name == "len") {
    const auto *text = std::get_if<std::string>(&value);
    return text ? succeed(Int128(countCharacters(*text))) : fail(describe(value) + " has no length");
  }
  if (name == "next_power_of_2")
    return nextPowerOfTwo(value);
  struct Real {
    std::string_view name;
    double (*function)(double);
  };
  for (Real real : {Real{"log2", std::log2}, Real{"log", std::log}, Real{"exp", std::exp}, Real{"exp2", std::exp2},
                    Real{"sqrt", std::sqrt}, Real{"sin", std::sin}, Real{"cos", std::cos}})
    if (real.name == name)
      return realFunction(value, real.function, name);
  for (Real real : {Real{"ceil", std::ceil}, Real{"floor", std::floor}, Real{"round", std::nearbyint}})
    if (real.name == name)
      return roundReal(value, real.function, name);
  return std::nullopt;
}

} // namespace

std::optional<EvalResult> evaluateFunction(std::string_view name, const std::vector<Value> &arguments) {
  if ((name == "min" || name == "max") && !arguments.empty())
    return extremum(arguments, name == "min" ? CompareOp::Lt : CompareOp::Gt);
  if (arguments.size() == 1)
    return evaluateUnary(name, arguments[0]);
  if (arguments.size() != 2)
    return std::nullopt;
  if (name == "cdiv")
    return cdiv(arguments[0], arguments[1]);
  if (name == "pow")
    return evaluate(BinaryOp::Pow, arguments[0], arguments[1]);
  return std::nullopt;
}

} // namespace tile::frontend
