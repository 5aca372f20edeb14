// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python's operators on compile-time values.

#include "Frontend/Values/ConstEval.h"
#include "Frontend/Values/EvalResults.h"

#include "Frontend/Syntax/Literals.h"

#include <cmath>

namespace tile::frontend {

namespace {

EvalResult overflow() {
  return fail("the result needs more than 127 bits");
}

EvalResult unsupported(std::string_view op, const Value &left, const Value &right) {
  return fail("'" + std::string(op) + "' is not defined for " + describe(left) + " and " + describe(right));
}

Int128 floorDivide(Int128 a, Int128 b) {
  Int128 quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// Returns a / b of integers, rounded once, to the nearest double.
double divideIntegers(Int128 a, Int128 b) {
  constexpr Int128 exact = Int128(1) << 53;
  if (a >= -exact && a <= exact && b >= -exact && b <= exact)
    return static_cast<double>(a) / static_cast<double>(b);
  using Magnitude = unsigned __int128;
  const bool isNegative = (a < 0) != (b < 0);
  Magnitude dividend = a < 0 ? -static_cast<Magnitude>(a) : static_cast<Magnitude>(a);
  Magnitude divisor = b < 0 ? -static_cast<Magnitude>(b) : static_cast<Magnitude>(b);
  Magnitude quotient = dividend / divisor, remainder = dividend % divisor;
  int exponent = 0;
  // Compute two bits more than a double has. The last bit is sticky.
  while (dividend != 0 && quotient < (Magnitude(1) << 55)) {
    remainder *= 2;
    quotient = quotient * 2 + (remainder >= divisor ? 1 : 0);
    remainder -= remainder >= divisor ? divisor : 0;
    --exponent;
  }
  quotient |= remainder != 0 ? 1 : 0;
  double result = std::ldexp(static_cast<double>(quotient), exponent);
  return isNegative ? -result : result;
}

EvalResult powInteger(Int128 base, Int128 exponent) {
  if (exponent < 0)
    return base == 0 ? fail("zero to a negative power")
                     : succeed(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  Int128 result = 1;
  bool isSmall = base >= -1 && base <= 1;
  if (isSmall)
    return succeed(base == -1 && exponent % 2 == 0 ? Int128(1) : exponent == 0 ? Int128(1) : base);
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result))
      return overflow();
  return succeed(result);
}

EvalResult shift(BinaryOp op, Int128 value, Int128 amount) {
  if (amount < 0)
    return fail("negative shift count " + toString(amount));
  constexpr int bits = 127;
  if (op == BinaryOp::RShift)
    return succeed(amount >= bits ? Int128(value < 0 ? -1 : 0) : value >> static_cast<int>(amount));
  Int128 result = value;
  if (value == 0)
    return succeed(value);
  if (amount >= bits || __builtin_mul_overflow(value, static_cast<Int128>(1) << static_cast<int>(amount), &result))
    return overflow();
  return succeed(result);
}

/// Returns a quotient or remainder of constants that was computed by rounding down.
EvalResult succeedRoundingDown(BinaryOp op, Value value, bool hasSign) {
  EvalResult result = succeed(std::move(value));
  if (hasSign)
    result.warning = "'" + std::string(spelling(op)) + "' of constants rounds down, giving " + str(*result.value) +
                     "; of run-time values it rounds towards zero";
  return result;
}

EvalResult evaluateIntegers(BinaryOp op, Int128 a, Int128 b) {
  Int128 result = 0;
  switch (op) {
  case BinaryOp::Add:
    return __builtin_add_overflow(a, b, &result) ? overflow() : succeed(result);
  case BinaryOp::Sub:
    return __builtin_sub_overflow(a, b, &result) ? overflow() : succeed(result);
  case BinaryOp::Mult:
    return __builtin_mul_overflow(a, b, &result) ? overflow() : succeed(result);
  case BinaryOp::Div:
    return b == 0 ? fail("division by zero") : succeed(divideIntegers(a, b));
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod: {
    if (b == 0)
      return fail("division by zero");
    if (b == -1) // -2^127 / -1 is the only quotient that overflows
      return op == BinaryOp::Mod ? succeed(Int128(0)) : evaluateIntegers(BinaryOp::Sub, 0, a);
    Int128 quotient = floorDivide(a, b);
    return succeedRoundingDown(op, op == BinaryOp::FloorDiv ? quotient : a - quotient * b, a < 0 || b < 0);
  }
  case BinaryOp::Pow:
    return powInteger(a, b);
  case BinaryOp::LShift:
  case BinaryOp::RShift:
    return shift(op, a, b);
  case BinaryOp::BitAnd:
    return succeed(a & b);
  case BinaryOp::BitOr:
    return succeed(a | b);
  case BinaryOp::BitXor:
    return succeed(a ^ b);
  case BinaryOp::MatMult:
    break;
  }
  return fail("'@' is not defined for integers");
}

/// Returns Python's `a // b` and `a % b`. The remainder is exact and has the sign of `b`, even if it is zero. The
/// quotient is computed from `a - remainder`.
std::pair<double, double> divideFloats(double a, double b) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder == 0) {
    remainder = std::copysign(0.0, b);
  } else if ((remainder < 0) != (b < 0)) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient == 0)
    return {std::copysign(0.0, a / b), remainder};
  double whole = std::floor(quotient);
  return {quotient - whole > 0.5 ? whole + 1 : whole, remainder};
}

EvalResult evaluateFloats(BinaryOp op, double a, double b) {
  switch (op) {
  case BinaryOp::Add:
    return succeed(a + b);
  case BinaryOp::Sub:
    return succeed(a - b);
  case BinaryOp::Mult:
    return succeed(a * b);
  case BinaryOp::Div:
    return b == 0 ? fail("division by zero") : succeed(a / b);
  case BinaryOp::FloorDiv:
    return b == 0 ? fail("division by zero") : succeed(divideFloats(a, b).first);
  case BinaryOp::Mod:
    if (b == 0)
      return fail("division by zero");
    return succeedRoundingDown(op, divideFloats(a, b).second, a < 0 || b < 0);
  case BinaryOp::Pow: {
    double power = std::pow(a, b);
    if (a == 0 && b < 0)
      return fail("zero to a negative power");
    if (std::isinf(power) && std::isfinite(a) && std::isfinite(b))
      return fail("the power is too large for a float");
    return std::isnan(power) && !std::isnan(a) && !std::isnan(b) ? fail("a negative number to a fractional power")
                                                                 : succeed(power);
  }
  default:
    return fail("'" + std::string(spelling(op)) + "' is not defined for floats");
  }
}

template <typename T> bool compareOrdered(CompareOp op, const T &a, const T &b) {
  switch (op) {
  case CompareOp::Lt:
    return a < b;
  case CompareOp::Gt:
    return a > b;
  case CompareOp::LtE:
    return a <= b;
  case CompareOp::GtE:
    return a >= b;
  case CompareOp::NotEq:
    return !(a == b);
  default:
    return a == b;
  }
}

/// Compares an integer with a double by their exact values; NaN is neither less nor greater nor equal.
bool compareMixed(CompareOp op, Int128 a, double b) {
  if (std::isnan(b))
    return op == CompareOp::NotEq;
  constexpr double limit = 0x1p127; // larger than all integers
  if (b >= limit || b < -limit)
    return compareOrdered(op, 0, b > 0 ? 1 : -1);
  // Compare the integer parts; if they are equal, the fraction decides.
  auto whole = static_cast<Int128>(std::floor(b));
  bool hasFraction = std::floor(b) != b;
  return compareOrdered(op, a == whole && hasFraction ? Int128(-1) : a, a == whole && hasFraction ? Int128(0) : whole);
}

/// Returns the operator that gives the same result with exchanged operands.
CompareOp mirrored(CompareOp op) {
  switch (op) {
  case CompareOp::Lt:
    return CompareOp::Gt;
  case CompareOp::Gt:
    return CompareOp::Lt;
  case CompareOp::LtE:
    return CompareOp::GtE;
  case CompareOp::GtE:
    return CompareOp::LtE;
  default:
    return op;
  }
}

} // namespace

bool isNumber(const Value &value) {
  return std::holds_alternative<bool>(value) || std::holds_alternative<Int128>(value) ||
         std::holds_alternative<double>(value);
}

std::optional<Int128> asInteger(const Value &value) {
  if (const bool *flag = std::get_if<bool>(&value))
    return Int128(*flag);
  if (const Int128 *integer = std::get_if<Int128>(&value))
    return *integer;
  return std::nullopt;
}

std::optional<double> asDouble(const Value &value) {
  if (const double *number = std::get_if<double>(&value))
    return *number;
  if (std::optional<Int128> integer = asInteger(value))
    return static_cast<double>(*integer);
  return std::nullopt;
}

EvalResult evaluate(UnaryOp op, const Value &operand) {
  if (op == UnaryOp::Not) {
    std::optional<bool> value = truth(operand);
    return value ? succeed(!*value) : fail(describe(operand) + " is neither true nor false");
  }
  if (std::optional<Int128> integer = asInteger(operand)) {
    if (op == UnaryOp::Plus)
      return succeed(*integer);
    return op == UnaryOp::Invert ? succeed(~*integer) : evaluateIntegers(BinaryOp::Sub, 0, *integer);
  }
  if (const double *number = std::get_if<double>(&operand); number && op != UnaryOp::Invert)
    return succeed(op == UnaryOp::Minus ? -*number : *number);
  return fail("'" + std::string(spelling(op)) + "' is not defined for " + describe(operand));
}

static EvalResult repeat(const std::string &text, Int128 times) {
  constexpr Int128 longest = 1 << 20; // far more than is useful
  if (times > 0 && !text.empty() && times > longest / static_cast<Int128>(text.size()))
    return fail("the string would have more than " + toString(longest) + " characters");
  std::string out;
  for (Int128 i = 0; i < times; ++i)
    out += text;
  return succeed(out);
}

EvalResult evaluate(BinaryOp op, const Value &left, const Value &right) {
  const auto *leftText = std::get_if<std::string>(&left), *rightText = std::get_if<std::string>(&right);
  if (leftText && rightText && op == BinaryOp::Add)
    return succeed(*leftText + *rightText);
  const auto *text = leftText ? leftText : rightText;
  std::optional<Int128> times = text ? asInteger(leftText ? right : left) : std::nullopt;
  if (op == BinaryOp::Mult && times)
    return repeat(*text, *times);
  if (!isNumber(left) || !isNumber(right))
    return unsupported(spelling(op), left, right);
  bool bothBool = std::holds_alternative<bool>(left) && std::holds_alternative<bool>(right);
  bool isLogic = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
  std::optional<Int128> a = asInteger(left), b = asInteger(right);
  if (!a || !b)
    return evaluateFloats(op, *asDouble(left), *asDouble(right));
  EvalResult result = evaluateIntegers(op, *a, *b);
  if (bothBool && isLogic && result.value)
    result.value = Value(*asInteger(*result.value) != 0);
  return result;
}

EvalResult evaluate(CompareOp op, const Value &left, const Value &right) {
  if (op == CompareOp::Is || op == CompareOp::IsNot) {
    bool same = left.index() == right.index() && left == right;
    return succeed(same == (op == CompareOp::Is));
  }
  if (std::optional<Int128> a = asInteger(left), b = asInteger(right); a && b)
    return succeed(compareOrdered(op, *a, *b));
  const double *leftReal = std::get_if<double>(&left), *rightReal = std::get_if<double>(&right);
  if (std::optional<Int128> a = asInteger(left); a && rightReal)
    return succeed(compareMixed(op, *a, *rightReal));
  if (std::optional<Int128> b = asInteger(right); b && leftReal)
    return succeed(compareMixed(mirrored(op), *b, *leftReal));
  if (std::optional<double> a = asDouble(left), b = asDouble(right); a && b)
    return succeed(compareOrdered(op, *a, *b));
  const auto *leftText = std::get_if<std::string>(&left), *rightText = std::get_if<std::string>(&right);
  if (leftText && rightText)
    return succeed(compareOrdered(op, *leftText, *rightText));
  bool isEquality = op == CompareOp::Eq || op == CompareOp::NotEq;
  if (!isEquality)
    return unsupported(spelling(op), left, right);
  bool same = left.index() == right.index() && left == right;
  return succeed(same == (op == CompareOp::Eq));
}

std::optional<bool> truth(const Value &value) {
  if (isNone(value))
    return false;
  if (std::optional<double> number = asDouble(value))
    return *number != 0;
  if (const auto *text = std::get_if<std::string>(&value))
    return !text->empty();
  return std::nullopt;
}

std::string str(const Value &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  return repr(value);
}

std::string repr(const Value &value) {
  struct Printer {
    std::string operator()(NoneValue) { return "None"; }
    std::string operator()(bool flag) { return flag ? "True" : "False"; }
    std::string operator()(Int128 integer) { return toString(integer); }
    std::string operator()(double number) { return floatRepr(number); }
    std::string operator()(const std::string &text) { return stringRepr(text); }
    std::string operator()(DType type) { return toString(type); }
    std::string operator()(const TypeNameValue &type) { return type.name; }
    std::string operator()(const NamespaceValue &space) { return space.name; }
    std::string operator()(const FunctionStmt *function) { return function->name; }
    std::string operator()(const BuiltinInfo *) { return "builtin function"; }
    std::string operator()(const ClassStmt *type) { return type->name; }
  };
  return std::visit(Printer{}, value);
}

std::string describe(const Value &value) {
  struct Describer {
    std::string operator()(NoneValue) { return "None"; }
    std::string operator()(bool flag) { return flag ? "True" : "False"; }
    std::string operator()(Int128 integer) { return "the integer " + toString(integer); }
    std::string operator()(double number) { return "the float " + floatRepr(number); }
    std::string operator()(const std::string &text) { return "the string " + stringRepr(text); }
    std::string operator()(DType type) { return "the type " + toString(type); }
    std::string operator()(const TypeNameValue &type) { return "the type " + type.name; }
    std::string operator()(const NamespaceValue &space) { return "the module " + space.name; }
    std::string operator()(const FunctionStmt *function) { return "the function " + function->name; }
    std::string operator()(const BuiltinInfo *) { return "a builtin function"; }
    std::string operator()(const ClassStmt *type) { return "the class " + type->name; }
  };
  return std::visit(Describer{}, value);
}

std::optional<DType> scalarType(const Value &value) {
  if (std::holds_alternative<bool>(value))
    return DType(Scalar::Int1);
  if (const Int128 *integer = std::get_if<Int128>(&value))
    return typeOfInteger(*integer);
  if (const double *number = std::get_if<double>(&value))
    return typeOfFloat(*number);
  return std::nullopt;
}

} // namespace tile::frontend
