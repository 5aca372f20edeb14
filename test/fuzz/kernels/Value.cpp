// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Value.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tile::fuzz {

double Range::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

Range Range::join(const Range &other) const {
  return {std::min(low, other.low), std::max(high, other.high), std::min(step, other.step)};
}

bool isFloat(Scalar type) {
  return frontend::DType(type).isFloat();
}

bool isUnsigned(Scalar type) {
  return frontend::DType(type).isUnsigned();
}

unsigned bitsOf(Scalar type) {
  return frontend::DType(type).bits();
}

bool isNarrowFloat(Scalar type) {
  return frontend::DType(type).isFp8();
}

namespace {

struct TypeNames {
  const char *language;
  const char *pointer;
};

TypeNames namesOf(Scalar type) {
  switch (type) {
  case Scalar::Int1:
    return {"tl.int1", "*i1"};
  case Scalar::Int8:
    return {"tl.int8", "*i8"};
  case Scalar::Int16:
    return {"tl.int16", "*i16"};
  case Scalar::Int32:
    return {"tl.int32", "*i32"};
  case Scalar::Int64:
    return {"tl.int64", "*i64"};
  case Scalar::UInt8:
    return {"tl.uint8", "*u8"};
  case Scalar::UInt16:
    return {"tl.uint16", "*u16"};
  case Scalar::UInt32:
    return {"tl.uint32", "*u32"};
  case Scalar::UInt64:
    return {"tl.uint64", "*u64"};
  case Scalar::Float8E4M3:
    return {"tl.float8e4nv", "*fp8e4nv"};
  case Scalar::Float8E5M2:
    return {"tl.float8e5", "*fp8e5"};
  case Scalar::Float16:
    return {"tl.float16", "*fp16"};
  case Scalar::BFloat16:
    return {"tl.bfloat16", "*bf16"};
  case Scalar::Float32:
    return {"tl.float32", "*fp32"};
  case Scalar::Float64:
    return {"tl.float64", "*fp64"};
  case Scalar::Float8E4B15:
    break;
  }
  return {"", ""};
}

/// Returns the number of bits of the significand, including the first one.
int precisionOf(Scalar type) {
  switch (type) {
  case Scalar::Float8E4M3:
    return 4;
  case Scalar::Float8E5M2:
    return 3;
  case Scalar::Float16:
    return 11;
  case Scalar::BFloat16:
    return 8;
  case Scalar::Float32:
    return 24;
  default:
    return 53;
  }
}

/// Returns the largest value that is never rounded to infinity.
double largestOf(Scalar type) {
  switch (type) {
  case Scalar::Float8E4M3:
    return 448;
  case Scalar::Float8E5M2:
    return 57344;
  case Scalar::Float16:
    return 65504;
  default:
    return 1e30;
  }
}

/// Well above subnormal values, which some instructions flush.
constexpr double smallestStep = 1.0 / 16;

} // namespace

std::string languageName(Scalar type) {
  return namesOf(type).language;
}

std::string pointerName(Scalar type) {
  return namesOf(type).pointer;
}

Range rangeOf(Scalar type) {
  if (isFloat(type)) {
    const double limit = std::ldexp(1, precisionOf(type));
    return {-limit, limit, 1};
  }
  const int bits = static_cast<int>(bitsOf(type));
  if (isUnsigned(type))
    return {0, std::ldexp(1, bits) - 1, 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1, 1};
}

bool fits(Scalar type, const Range &range) {
  if (isFloat(type))
    return range.step >= smallestStep && range.magnitude() <= std::ldexp(range.step, precisionOf(type)) &&
           range.magnitude() <= largestOf(type);
  const Range all = rangeOf(type);
  return range.step >= 1 && range.low >= all.low && range.high <= all.high;
}

Range wrap(Scalar type, const Range &range) {
  return fits(type, range) ? range : rangeOf(type);
}

Value floorOf(const Value &value) {
  if (!isFloat(value.type) || value.range.step >= 1)
    return value;
  const Scalar type = value.type == Scalar::Float64 ? value.type : Scalar::Float32;
  const std::string operand = value.text + (type == value.type ? "" : ".to(tl.float32)");
  const Range range{std::floor(value.range.low), std::ceil(value.range.high), 1};
  return {"tl.floor(" + operand + ")", type, value.shape, range};
}

int64_t elementsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::optional<Shape> broadcast(const Shape &left, const Shape &right) {
  Shape result(std::max(left.size(), right.size()), 1);
  for (const Shape *shape : {&left, &right})
    for (size_t i = 0; i < shape->size(); ++i) {
      int64_t &size = result[result.size() - shape->size() + i];
      if (size != 1 && (*shape)[i] != 1 && size != (*shape)[i])
        return std::nullopt;
      size = std::max(size, (*shape)[i]);
    }
  return result;
}

std::string shapeText(const Shape &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string numberText(double value, bool isFloat) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  std::string result = text;
  if (isFloat && result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return result;
}

} // namespace tile::fuzz
