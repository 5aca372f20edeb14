// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for functions on numbers and for methods of numbers.

#include "Frontend/Values/Collections.h"
#include "Frontend/Values/EvalResults.h"
#include "Frontend/Values/Numbers.h"
#include "Frontend/Values/Python.h"

#include <bit>
#include <cmath>
#include <utility>

using llvm::StringRef;

namespace tile::frontend {

namespace {

bool areConstant(const PythonCall &call) {
  return llvm::all_of(call.arguments, [](const BoundFormal &argument) { return argument.value.isConstant(); });
}

/// Applies a function to a constant argument; returns nullopt for other arguments.
std::optional<SymValue> fold(const PythonCall &call, EvalResult (*function)(const Value &)) {
  return areConstant(call) ? std::optional(call.result(function(call[0].constant))) : std::nullopt;
}
std::optional<SymValue> fold(const PythonCall &call, EvalResult (*function)(const Value &, const Value &)) {
  return areConstant(call) ? std::optional(call.result(function(call[0].constant, call[1].constant))) : std::nullopt;
}

std::optional<SymValue> foldReal(const PythonCall &call, double (*function)(double)) {
  return areConstant(call) ? std::optional(call.result(applyReal(function, call[0].constant, call.name)))
                           : std::nullopt;
}
std::optional<SymValue> foldRounding(const PythonCall &call, double (*function)(double)) {
  return areConstant(call) ? std::optional(call.result(roundReal(function, call[0].constant, call.name)))
                           : std::nullopt;
}

/// Returns the magnitude, of up to 127 bits.
unsigned __int128 magnitudeOf(Int128 value) {
  return value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
}

/// Parses "0x1.8p-3", with or without the "0x" and the exponent.
std::optional<double> fromHex(StringRef text) {
  text = text.trim();
  StringRef digits = text;
  bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  bool isNamed =
      digits.equals_insensitive("inf") || digits.equals_insensitive("infinity") || digits.equals_insensitive("nan");
  if (!isNamed && !digits.consume_front("0x"))
    digits.consume_front("0X");
  bool isHex =
      !digits.empty() && (isNamed || digits.find_first_not_of("0123456789abcdefABCDEF.pP+-") == StringRef::npos);
  if (!isHex)
    return std::nullopt;
  std::string spelled = (isNamed ? "" : "0x") + digits.str();
  char *end = nullptr;
  double value = std::strtod(spelled.c_str(), &end);
  if (end != spelled.c_str() + spelled.size() || (std::isinf(value) && !isNamed))
    return std::nullopt;
  return isNegative ? -value : value;
}

} // namespace

std::optional<SymValue> pythonInt(const PythonCall &call) {
  return fold(call, toInteger);
}
std::optional<SymValue> pythonFloat(const PythonCall &call) {
  return fold(call, toFloat);
}
std::optional<SymValue> pythonBool(const PythonCall &call) {
  if (std::optional<bool> holds = truthOf(call[0]))
    return SymValue::makeConstant(*holds);
  return fold(call, [](const Value &value) { return fail(describe(value) + " is neither true nor false"); });
}

std::optional<SymValue> pythonFromHex(const PythonCall &call) {
  const std::string *text = textOf(call[0]);
  std::optional<double> value = text ? fromHex(*text) : std::nullopt;
  return call.result(value ? succeed(*value) : fail("float.fromhex cannot parse " + describe(call[0])));
}

std::optional<SymValue> pythonAbs(const PythonCall &call) {
  return fold(call, absolute);
}
std::optional<SymValue> pythonRound(const PythonCall &call) {
  return foldRounding(call, std::nearbyint);
}
std::optional<SymValue> pythonCeil(const PythonCall &call) {
  return foldRounding(call, std::ceil);
}
std::optional<SymValue> pythonFloor(const PythonCall &call) {
  return foldRounding(call, std::floor);
}
std::optional<SymValue> pythonPow(const PythonCall &call) {
  return fold(call, [](const Value &x, const Value &y) { return evaluate(BinaryOp::Pow, x, y); });
}
std::optional<SymValue> pythonCdiv(const PythonCall &call) {
  return fold(call, ceilingDivision);
}
std::optional<SymValue> pythonNextPowerOfTwo(const PythonCall &call) {
  return fold(call, nextPowerOfTwo);
}

std::optional<SymValue> pythonDivmod(const PythonCall &call) {
  if (!areConstant(call))
    return std::nullopt;
  return SymValue::makeTuple({call.result(evaluate(BinaryOp::FloorDiv, call[0].constant, call[1].constant)),
                              call.result(evaluate(BinaryOp::Mod, call[0].constant, call[1].constant))});
}

std::optional<SymValue> pythonIntegerRoot(const PythonCall &call) {
  std::optional<Int128> n = integerOf(call[0]);
  if (!n || *n < 0)
    return std::nullopt;
  Int128 root = 0;
  for (Int128 bit = Int128(1) << 63; bit > 0; bit >>= 1)
    if ((root + bit) <= *n / (root + bit))
      root += bit;
  return SymValue::makeConstant(root);
}

/// Evaluates comb(n, k), the number of ways to choose k of n items.
std::optional<SymValue> pythonComb(const PythonCall &call) {
  std::optional<Int128> n = integerOf(call[0]), k = integerOf(call[1]);
  constexpr Int128 most = 1 << 20;
  if (!n || !k || *n < 0 || *k < 0 || *n > most)
    return std::nullopt;
  SymValue result = SymValue::makeConstant(Int128(*k > *n ? 0 : 1));
  for (Int128 i = 0; i < std::min(*k, *n - *k) && !result.isError(); ++i) {
    result = call.result(evaluate(BinaryOp::Mult, result.constant, *n - i));
    if (!result.isError())
      result = call.result(evaluate(BinaryOp::FloorDiv, result.constant, i + 1));
  }
  return result;
}

std::optional<SymValue> pythonGcd(const PythonCall &call) {
  Int128 divisor = 0;
  for (const SymValue &item : call[0].elements) {
    std::optional<Int128> integer = integerOf(item);
    if (!integer)
      return std::nullopt;
    for (Int128 remaining = *integer; remaining != 0;)
      divisor = std::exchange(remaining, divisor % remaining);
  }
  return SymValue::makeConstant(divisor < 0 ? -divisor : divisor);
}

std::optional<SymValue> pythonBitLength(const PythonCall &call) {
  unsigned __int128 bits = magnitudeOf(*integerOf(call[0]));
  auto high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  return SymValue::makeConstant(Int128(high ? 64 + std::bit_width(high) : std::bit_width(low)));
}

std::optional<SymValue> pythonBitCount(const PythonCall &call) {
  unsigned __int128 bits = magnitudeOf(*integerOf(call[0]));
  auto high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  return SymValue::makeConstant(Int128(std::popcount(high) + std::popcount(low)));
}

std::optional<SymValue> pythonIsInteger(const PythonCall &call) {
  double value = std::get<double>(call[0].constant);
  return SymValue::makeConstant(std::isfinite(value) && std::floor(value) == value);
}

#define TILE_PYTHON(name, parameters, rule, emitter)
#define TILE_PYTHON_REAL(name, function)                                                                               \
  std::optional<SymValue> pythonReal_##function(const PythonCall &call) {                                              \
    return foldReal(call, std::function);                                                                              \
  }
#include "Frontend/Syntax/PythonFunctions.def"

} // namespace tile::frontend
