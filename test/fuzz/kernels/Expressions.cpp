// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on blocks and scalars. Operations whose result could be rounded are not generated; the caller then tries
// another one.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

Range multiply(const Range &a, const Range &b) {
  const double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4), a.step * b.step};
}

/// Returns the type in which the language computes; nothing if the operation is invalid, or if an operand could not be
/// converted exactly.
std::optional<Scalar> commonType(const Value &a, const Value &b, bool isDivision = false) {
  std::string error;
  const std::optional<frontend::DType> type =
      frontend::promote({a.type, a.isWeak}, {b.type, b.isWeak}, isDivision, error);
  if (!type || isNarrowFloat(type->scalar))
    return std::nullopt;
  if (isFloat(type->scalar) && (!fits(type->scalar, a.range) || !fits(type->scalar, b.range)))
    return std::nullopt;
  // A literal must be representable in the type.
  for (const Value *value : {&a, &b})
    if (value->isWeak && !fits(type->scalar, value->range))
      return std::nullopt;
  return type->scalar;
}

} // namespace

Scalar KernelBuilder::anyType() {
  return random.pick({Scalar::Int1,       Scalar::Int8,       Scalar::Int16,   Scalar::Int32,   Scalar::Int32,
                      Scalar::Int64,      Scalar::UInt8,      Scalar::UInt16,  Scalar::UInt32,  Scalar::UInt64,
                      Scalar::Float8E4M3, Scalar::Float8E5M2, Scalar::Float16, Scalar::Float16, Scalar::BFloat16,
                      Scalar::BFloat16,   Scalar::Float32,    Scalar::Float32, Scalar::Float32, Scalar::Float64});
}

Scalar KernelBuilder::computeType() {
  Scalar type = anyType();
  while (isNarrowFloat(type) || type == Scalar::Int1)
    type = anyType();
  return type;
}

/// Returns a literal that can be combined with `like`.
Value KernelBuilder::literal(Scalar like) {
  double number = static_cast<double>(random.between(isUnsigned(like) ? 0 : -3, 7));
  double step = 1;
  if (isFloat(like) && random.chance(20)) {
    number += 0.5;
    step = 0.5;
  }
  const bool writesFloat = isFloat(like) && (step < 1 || random.chance(60));
  Value value{
      numberText(number, writesFloat), writesFloat ? Scalar::Float32 : Scalar::Int32, {}, {number, number, step}};
  value.isWeak = true;
  if (number < 0)
    value.text = "(" + value.text + ")";
  return value;
}

/// Converts the value to the type exactly; values out of range are made smaller before.
Value KernelBuilder::cast(const Value &value, Scalar type) {
  if (value.type == type && !value.isWeak)
    return value;
  Value source = value;
  if (source.isWeak) {
    // Makes a literal of the type, with the same value if the value fits.
    const double number = fits(type, source.range) ? source.range.low : 1;
    return {"tl.full((), " + numberText(number, isFloat(type)) + ", " + languageName(type) + ")",
            type,
            {},
            {number, number, source.range.step}};
  }
  if (type == Scalar::Int1) {
    if (isNarrowFloat(source.type))
      source = cast(source, Scalar::Float32);
    return {"(" + source.text + " != 0)", type, source.shape, {0, 1, 1}};
  }
  if (isFloat(type)) {
    if (!fits(type, source.range)) {
      const double limit = rangeOf(type).high / 2;
      source = narrow(floorOf(source), -limit, limit);
    }
  } else if (isFloat(source.type)) {
    if (isNarrowFloat(source.type))
      source = cast(source, Scalar::Float16);
    source = floorOf(source);
    if (!fits(type, source.range))
      source = narrow(source, isUnsigned(type) ? 0 : -100, 100);
  }
  Value result{source.text + ".to(" + languageName(type) + ")", type, source.shape, source.range};
  if (!isFloat(type))
    result.range = wrap(type, source.range);
  return result;
}

/// Limits values to the range from `low` to `high`, which is exact in the type of the value.
Value KernelBuilder::narrow(const Value &value, double low, double high) {
  if (value.range.low >= low && value.range.high <= high)
    return value;
  Value result = value;
  if (isFloat(value.type)) {
    if (isNarrowFloat(value.type))
      result = cast(value, Scalar::Float16);
    low = std::max(low, rangeOf(result.type).low);
    high = std::min(high, rangeOf(result.type).high);
    // With literals, arithmetic is done in at least 32 bits.
    result.text =
        "tl.minimum(tl.maximum(" + result.text + ", " + numberText(low, true) + "), " + numberText(high, true) + ")";
    if (result.type != Scalar::Float64)
      result.type = Scalar::Float32;
    result.range.low = std::clamp(value.range.low, low, high);
    result.range.high = std::clamp(value.range.high, low, high);
    return result;
  }
  if (value.type == Scalar::Int1)
    return value;
  // The remainder preserves more of the value than clamping.
  const double limit = std::min({high, low < 0 ? -low : high, 63.0});
  const bool hasNegative = value.range.low < 0;
  const std::string divisor = numberText(limit + 1, false);
  result.text = "(" + value.text + " % " + divisor + ")";
  result.range = {hasNegative ? -limit : 0, limit, 1};
  if (low == 0 && hasNegative) {
    result.text = "tl.maximum(" + result.text + ", 0)";
    result.range.low = 0;
    if (bitsOf(result.type) < 32)
      result.type = Scalar::Int32;
  }
  return result;
}

/// Broadcasts the value to exactly this shape.
Value KernelBuilder::expand(const Value &value, const Shape &shape) {
  if (value.shape == shape)
    return value;
  Value result = value;
  result.isWeak = false;
  result.shape = shape;
  if (value.shape.empty()) {
    const Scalar type = value.isWeak ? (isFloat(value.type) ? Scalar::Float32 : Scalar::Int32) : value.type;
    result.type = type;
    result.text = "tl.full(" + shapeText(shape) + ", " + value.text + ", " + languageName(type) + ")";
    return result;
  }
  result.text = "tl.broadcast_to(" + value.text + ", " + shapeText(shape) + ")";
  return result;
}

/// Returns an existing value, or indices.
Value KernelBuilder::leaf(const Shape &shape) {
  if (random.chance(80))
    if (std::optional<Value> known = find([&](const Value &value) { return value.shape == shape; }))
      return *known;
  if (shape.empty()) {
    if (!launchIntegers.empty() && !inHelper && random.chance(50)) {
      const auto &[name, number] = random.pick(launchIntegers);
      return {name + ".to(tl.int32)", Scalar::Int32, {}, {static_cast<double>(number), static_cast<double>(number), 1}};
    }
    return cast(literal(Scalar::Int32), random.pick({Scalar::Int32, Scalar::Int64, Scalar::Float32}));
  }
  // Use a vector along one of the dimensions.
  for (size_t dimension = 0; dimension < shape.size() && shape.size() == 2; ++dimension)
    if (random.chance(40))
      if (std::optional<Value> known =
              find([&](const Value &value) { return value.shape == Shape{shape[dimension]}; })) {
        known->text += dimension == 0 ? "[:, None]" : "[None, :]";
        known->shape = dimension == 0 ? Shape{shape[0], 1} : Shape{1, shape[1]};
        return expand(*known, shape);
      }
  std::string indices;
  double high = 0;
  for (size_t dimension = 0; dimension < shape.size(); ++dimension) {
    std::string index = "tl.arange(0, " + std::to_string(shape[dimension]) + ")";
    if (shape.size() > 1) {
      index += "[";
      for (size_t i = 0; i < shape.size(); ++i)
        index += std::string(i ? ", " : "") + (i == dimension ? ":" : "None");
      index += "]";
    }
    const int64_t factor = random.between(1, 9);
    indices += (dimension ? " + " : "") + index + " * " + std::to_string(factor);
    high += static_cast<double>((shape[dimension] - 1) * factor);
  }
  return {"(" + indices + ")", Scalar::Int32, shape, {0, high, 1}};
}

/// Returns an operand that broadcasts with this shape, possibly a smaller one.
Value KernelBuilder::operand(const Shape &shape, int depth) {
  if (shape.empty() || random.chance(65))
    return expression(shape, depth);
  if (random.chance(40))
    return random.chance(60) ? literal(computeType()) : leaf({});
  if (shape.size() == 2) {
    const bool isRow = random.chance(50);
    Value vector = leaf({shape[isRow ? 1 : 0]});
    vector.text += isRow ? "[None, :]" : "[:, None]";
    vector.shape = isRow ? Shape{1, shape[1]} : Shape{shape[0], 1};
    return vector;
  }
  return leaf({});
}

Value KernelBuilder::expression(const Shape &shape, int depth) {
  if (depth > 0)
    for (int attempt = 0; attempt < 6; ++attempt)
      if (std::optional<Value> value = anyOperation(shape, depth - 1))
        return *value;
  return leaf(shape);
}

std::optional<Value> KernelBuilder::anyOperation(const Shape &shape, int depth) {
  const int64_t kind = random.below(100);
  if (kind < 45) {
    const Value a = expression(shape, depth), b = operand(shape, depth);
    const std::string name = random.pick({"+", "+", "-", "*", "min", "max"});
    return random.chance(25) ? arithmetic(name, b, a) : arithmetic(name, a, b);
  }
  if (kind < 54)
    return division(expression(shape, depth), operand(shape, depth));
  if (kind < 63)
    return bits(shape, depth);
  if (kind < 68)
    return shift(shape, depth);
  if (kind < 74) {
    // Tests analyses of signs.
    const bool isSign = random.chance(30);
    const Value zero{"0", Scalar::Int32, {}, {0, 0, 1}, /*isWeak=*/true}, left = expression(shape, depth);
    return comparison(left, isSign ? zero : random.chance(40) ? limitOf(left) : operand(shape, depth));
  }
  if (kind < 84)
    return select(condition(shape, depth), expression(shape, depth), operand(shape, depth));
  if (kind < 94)
    return cast(expression(shape, depth), computeType());
  return function(shape, depth);
}

std::optional<Value> KernelBuilder::arithmetic(const std::string &name, const Value &first, const Value &second) {
  Value a = first, b = second;
  const std::optional<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape || (a.isWeak && b.isWeak))
    return std::nullopt;
  if (name == "min" || name == "max")
    for (Value *value : {&a, &b}) {
      value->isWeak = false; // a literal has a type here, and bf16 becomes fp32
      if (value->type == Scalar::BFloat16)
        value->type = Scalar::Float32;
    }
  const std::optional<Scalar> type = commonType(a, b);
  if (!type || *type == Scalar::Int1)
    return std::nullopt;
  Range x = a.range, y = b.range;
  if (!isFloat(*type)) {
    x = wrap(*type, x);
    y = wrap(*type, y);
  }
  const double step = std::min(x.step, y.step);
  Value result{"(" + a.text + " " + name + " " + b.text + ")", *type, *shape, {}};
  if (name == "+")
    result.range = {x.low + y.low, x.high + y.high, step};
  else if (name == "-")
    result.range = {x.low - y.high, x.high - y.low, step};
  else if (name == "*")
    result.range = multiply(x, y);
  else {
    const bool isMinimum = name == "min";
    result.text = (isMinimum ? "tl.minimum(" : "tl.maximum(") + a.text + ", " + b.text + ")";
    result.range = isMinimum ? Range{std::min(x.low, y.low), std::min(x.high, y.high), step}
                             : Range{std::max(x.low, y.low), std::max(x.high, y.high), step};
  }
  if (isFloat(*type))
    return fits(*type, result.range) ? std::optional(result) : std::nullopt;
  result.range = wrap(*type, result.range);
  return result;
}

std::optional<Value> KernelBuilder::division(const Value &a, const Value &b) {
  if (isFloat(a.type) || random.chance(15)) {
    Value divisor = literal(Scalar::Float32);
    const double number = random.pick({2.0, 4.0, 0.5});
    divisor.text = numberText(number, true);
    divisor.range = {number, number, number};
    divisor.type = Scalar::Float32;
    const std::optional<Scalar> type = commonType(a, divisor, true);
    if (!type)
      return std::nullopt;
    Value result{"(" + a.text + " / " + divisor.text + ")",
                 *type,
                 a.shape,
                 {a.range.low / number, a.range.high / number, a.range.step / number}};
    return fits(*type, result.range) ? std::optional(result) : std::nullopt;
  }
  if (a.type == Scalar::Int1 || a.isWeak)
    return std::nullopt;
  // Returns a nonzero divisor of the dividend's type; not -1, whose quotient may overflow.
  Value divisor = literal(Scalar::UInt8);
  divisor.text = numberText(divisor.range.low + 1, false);
  divisor.range = {divisor.range.low + 1, divisor.range.low + 1, 1};
  if (!b.isWeak && !isFloat(b.type) && random.chance(60)) {
    divisor = cast(narrow(cast(b, a.type), 0, 15), a.type);
    const std::string sum = divisor.text + " + " + std::to_string(random.between(1, 5));
    divisor.text = "(" + sum + ")";
    divisor.range = {1, 20, 1};
    if (divisor.type == Scalar::Int1)
      return std::nullopt;
  }
  const std::optional<Shape> shape = broadcast(a.shape, divisor.shape);
  if (!shape)
    return std::nullopt;
  const bool isRemainder = random.chance(50);
  Value result{"(" + a.text + (isRemainder ? " % " : " // ") + divisor.text + ")", a.type, *shape, {}};
  const double most = divisor.range.high - 1;
  const double low = a.range.low < 0 ? (isRemainder ? -most : a.range.low) : 0;
  result.range = {low, isRemainder ? std::max(most, 0.0) : std::max(a.range.high, 0.0), 1};
  return result;
}

std::optional<Value> KernelBuilder::bits(const Shape &shape, int depth) {
  Value a = expression(shape, depth);
  if (isFloat(a.type))
    a = cast(a, random.pick({Scalar::Int32, Scalar::Int8, Scalar::UInt16, Scalar::Int64}));
  const std::string name = random.pick({" & ", " | ", " ^ "});
  if (a.type != Scalar::Int1 && random.chance(40)) {
    const int64_t mask = random.between(0, bitsOf(a.type) == 8 ? 127 : 1000);
    Value result{"(" + a.text + name + std::to_string(mask) + ").to(" + languageName(a.type) + ")", a.type, a.shape,
                 rangeOf(a.type)};
    if (name == " & ")
      result.range = {0, static_cast<double>(mask), 1};
    return result;
  }
  if (random.chance(20))
    return Value{"(~" + a.text + ")", a.type, a.shape, rangeOf(a.type)};
  Value b = operand(shape, depth);
  if (b.isWeak)
    return std::nullopt;
  b = cast(b, a.type);
  const std::optional<Shape> both = broadcast(a.shape, b.shape);
  if (!both)
    return std::nullopt;
  return Value{"(" + a.text + name + b.text + ")", a.type, *both, rangeOf(a.type)};
}

std::optional<Value> KernelBuilder::shift(const Shape &shape, int depth) {
  Value a = expression(shape, depth);
  if (isFloat(a.type) || a.type == Scalar::Int1)
    a = cast(a, random.pick({Scalar::Int32, Scalar::UInt8, Scalar::Int16, Scalar::UInt64}));
  const int64_t most = bitsOf(a.type) - 1;
  const std::string name = random.pick({" << ", " >> "});
  const bool keepsSign = name == " >> " && a.range.low >= 0;
  const Range range = keepsSign ? Range{0, a.range.high, 1} : rangeOf(a.type);
  if (random.chance(60))
    return Value{"(" + a.text + name + std::to_string(random.between(0, most)) + ").to(" + languageName(a.type) + ")",
                 a.type, a.shape, range};
  Value amount = operand(shape, depth);
  if (amount.isWeak)
    return std::nullopt;
  amount = cast(amount, a.type);
  const std::optional<Shape> both = broadcast(a.shape, amount.shape);
  if (!both)
    return std::nullopt;
  return Value{"(" + a.text + name + "(" + amount.text + " & " + std::to_string(most) + ").to(" + languageName(a.type) +
                   "))",
               a.type, *both, range};
}

std::optional<Value> KernelBuilder::comparison(const Value &a, const Value &b) {
  const std::optional<Shape> shape = broadcast(a.shape, b.shape);
  Value left = a, right = b;
  left.isWeak = right.isWeak = false; // a literal has a type here
  if (!shape || !commonType(left, right) || (a.isWeak && b.isWeak) || isNarrowFloat(a.type) || isNarrowFloat(b.type))
    return std::nullopt;
  const bool isBool = a.type == Scalar::Int1 || b.type == Scalar::Int1;
  const std::string name =
      isBool ? random.pick({" == ", " != "}) : random.pick({" == ", " != ", " < ", " <= ", " > ", " >= "});
  return Value{"(" + a.text + name + b.text + ")", Scalar::Int1, *shape, {0, 1, 1}};
}

std::optional<Value> KernelBuilder::select(const Value &condition, const Value &a, const Value &b) {
  const std::optional<Shape> shape = broadcast(a.shape, b.shape);
  const std::optional<Scalar> type = commonType(a, b);
  if (!shape || !type || (a.isWeak && b.isWeak))
    return std::nullopt;
  Range x = a.range, y = b.range;
  if (!isFloat(*type)) {
    x = wrap(*type, x);
    y = wrap(*type, y);
  }
  const std::optional<Shape> all = broadcast(*shape, condition.shape);
  if (!all)
    return std::nullopt;
  return Value{"tl.where(" + condition.text + ", " + a.text + ", " + b.text + ")", *type, *all, x.join(y)};
}

Value KernelBuilder::condition(const Shape &shape, int depth) {
  if (!shape.empty() && random.chance(8))
    return edgeComparison(shape);
  for (int attempt = 0; attempt < 4; ++attempt)
    if (std::optional<Value> value = comparison(expression(shape, depth), operand(shape, depth)))
      return *value;
  const Value value = leaf(shape);
  return cast(value, Scalar::Int1);
}

Value KernelBuilder::scalarCondition() {
  Value result = condition({}, 1);
  if (random.chance(25)) {
    const Value other = condition({}, 1);
    result.text = "(" + result.text + random.pick({" and ", " or "}) + other.text + ")";
  }
  return result;
}

std::optional<Value> KernelBuilder::function(const Shape &shape, int depth) {
  Value a = expression(shape, depth);
  if (a.type == Scalar::Int1 || isNarrowFloat(a.type))
    return std::nullopt;
  switch (random.below(6)) {
  case 0: {
    Value result{"tl.abs(" + a.text + ")", a.type, a.shape, {0, a.range.magnitude(), a.range.step}};
    if (!isFloat(a.type) && (isUnsigned(a.type) || !fits(a.type, result.range)))
      result.range = rangeOf(a.type);
    return result;
  }
  case 1: {
    if (isUnsigned(a.type))
      return std::nullopt;
    Value result{"(-" + a.text + ")", a.type, a.shape, {-a.range.high, -a.range.low, a.range.step}};
    if (!isFloat(a.type))
      result.range = wrap(a.type, result.range);
    return result;
  }
  case 2: {
    if (a.type != Scalar::Float32 && a.type != Scalar::Float64)
      return std::nullopt;
    const bool isFloor = random.chance(50);
    return Value{(isFloor ? "tl.floor(" : "tl.ceil(") + a.text + ")",
                 a.type,
                 a.shape,
                 {std::floor(a.range.low), std::ceil(a.range.high), std::max(a.range.step, 1.0)}};
  }
  case 3: {
    if (!isFloat(a.type))
      return std::nullopt;
    const Value b = cast(expression(shape, depth), a.type), c = cast(expression(shape, depth), a.type);
    const Range both = multiply(a.range, b.range);
    Value result{"tl.fma(" + a.text + ", " + b.text + ", " + c.text + ")",
                 a.type,
                 a.shape,
                 {both.low + c.range.low, both.high + c.range.high, std::min(both.step, c.range.step)}};
    return fits(a.type, both) && fits(a.type, result.range) ? std::optional(result) : std::nullopt;
  }
  case 4: {
    if (a.type != Scalar::Float32 && a.type != Scalar::Float16)
      return std::nullopt;
    const bool isWide = a.type == Scalar::Float32;
    // -0.0 and 0.0 are equal here, but have different bits.
    return Value{"tl.where(" + a.text + " == 0, 0.0, " + a.text + ").to(" + languageName(a.type) + ").to(" +
                     (isWide ? "tl.int32" : "tl.int16") + ", bitcast=True)",
                 isWide ? Scalar::Int32 : Scalar::Int16, a.shape, rangeOf(isWide ? Scalar::Int32 : Scalar::Int16)};
  }
  default: {
    if (a.type != Scalar::Int32 && a.type != Scalar::UInt32 && a.type != Scalar::Int64)
      return std::nullopt;
    const Value b = cast(expression(shape, depth), a.type);
    return Value{"tl.umulhi(" + a.text + ", " + b.text + ")", a.type, a.shape, rangeOf(a.type)};
  }
  }
}

} // namespace tile::fuzz
