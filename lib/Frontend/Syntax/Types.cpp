// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, ranges and promotion of element types. The promotion order is Triton's, including its special cases: fp16
// takes precedence over bf16, and dividing 16-bit floats gives fp32.

#include "Frontend/Syntax/Types.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tile::frontend {

namespace {

struct ScalarInfo {
  std::string_view tritonName;
  std::string_view name;
  unsigned bits;
};

constexpr std::array<ScalarInfo, 16> scalars = {{
    {"int1", "i1", 1},
    {"int8", "i8", 8},
    {"int16", "i16", 16},
    {"int32", "i32", 32},
    {"int64", "i64", 64},
    {"uint8", "u8", 8},
    {"uint16", "u16", 16},
    {"uint32", "u32", 32},
    {"uint64", "u64", 64},
    {"fp8e4nv", "f8e4m3", 8},
    {"fp8e5", "f8e5m2", 8},
    {"fp8e4b15", "f8e4b15", 8},
    {"fp16", "f16", 16},
    {"bf16", "bf16", 16},
    {"fp32", "f32", 32},
    {"fp64", "f64", 64},
}};

struct Alias {
  std::string_view name;
  Scalar scalar;
};

constexpr Alias aliases[] = {
    {"float8e4nv", Scalar::Float8E4M3}, {"float8e5", Scalar::Float8E5M2},
    {"float16", Scalar::Float16},       {"half", Scalar::Float16},
    {"bfloat16", Scalar::BFloat16},     {"float32", Scalar::Float32},
    {"float64", Scalar::Float64},       {"double", Scalar::Float64},
    {"fp8e4m3fn", Scalar::Float8E4M3},  {"float8e4b15", Scalar::Float8E4B15},
    {"fp8e5m2", Scalar::Float8E5M2},    {"f8e4m3fn", Scalar::Float8E4M3},
};

const ScalarInfo &info(Scalar scalar) {
  return scalars[static_cast<size_t>(scalar)];
}

// bool < int < float
int kind(DType type) {
  return type.isBool() ? 0 : type.isInt() ? 1 : 2;
}

} // namespace

unsigned DType::bits() const {
  return isPointer ? 64 : info(scalar).bits;
}

std::string toString(DType type) {
  std::string name(info(type.scalar).tritonName);
  return type.isPointer ? "pointer<" + name + ">" : name;
}

std::string shortName(DType type) {
  std::string name(info(type.scalar).name);
  return type.isPointer ? "ptr<" + name + ">" : name;
}

std::optional<DType> dtypeByName(std::string_view name) {
  for (size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].tritonName == name || scalars[i].name == name)
      return DType(static_cast<Scalar>(i));
  if (name == "pi32_t")
    return DType(Scalar::Int32, /*isPointer=*/true);
  for (const Alias &alias : aliases)
    if (alias.name == name)
      return DType(alias.scalar);
  return std::nullopt;
}

__int128 minValue(DType type) {
  return type.isUnsigned() ? 0 : -(static_cast<__int128>(1) << (type.bits() - 1));
}

__int128 maxValue(DType type) {
  unsigned magnitudeBits = type.isUnsigned() ? type.bits() : type.bits() - 1;
  return (static_cast<__int128>(1) << magnitudeBits) - 1;
}

std::optional<DType> typeOfInteger(__int128 value) {
  for (Scalar scalar : {Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64})
    if (value >= minValue(scalar) && value <= maxValue(scalar))
      return DType(scalar);
  return std::nullopt;
}

DType typeOfFloat(double value) {
  // The normal range of fp32: 2^-126 to (2 - 2^-23) * 2^127.
  constexpr double smallest = 1.1754943508222875e-38, largest = 3.4028234663852886e38;
  double magnitude = std::fabs(value);
  bool isSpecial = magnitude == 0 || std::isinf(value) || std::isnan(value);
  return isSpecial || (magnitude >= smallest && magnitude <= largest) ? Scalar::Float32 : Scalar::Float64;
}

DType promoteIntegers(DType left, DType right) {
  unsigned leftBits = left.bits(), rightBits = right.bits();
  if (left.isUnsigned() == right.isUnsigned())
    return leftBits > rightBits ? left : right;
  if (left.isUnsigned())
    return leftBits >= rightBits ? left : right;
  return rightBits >= leftBits ? right : left;
}

std::optional<DType> promote(OperandType left, OperandType right, bool isDivision, std::string &error) {
  DType a = left.type, b = right.type;
  if (left.isWeak != right.isWeak) {
    DType weak = left.isWeak ? a : b, strong = left.isWeak ? b : a;
    if (kind(weak) <= kind(strong)) {
      bool isHalf = strong.is(Scalar::Float16) || strong.is(Scalar::BFloat16);
      return isDivision && isHalf ? DType(Scalar::Float32) : strong;
    }
  }
  auto either = [&](Scalar scalar) { return a.is(scalar) || b.is(scalar); };
  if (either(Scalar::Float64))
    return DType(Scalar::Float64);
  if (either(Scalar::Float32))
    return DType(Scalar::Float32);
  if (either(Scalar::Float16))
    return DType(isDivision ? Scalar::Float32 : Scalar::Float16);
  if (a.is(Scalar::BFloat16) && b.is(Scalar::BFloat16))
    return DType(isDivision ? Scalar::Float32 : Scalar::BFloat16);
  if (either(Scalar::BFloat16))
    return DType(Scalar::Float32);
  if (a.isFp8() && b.isFp8())
    return a == b ? a : DType(Scalar::Float16);
  if (!a.isInt() || !b.isInt()) {
    error = "'" + toString(a) + "' and '" + toString(b) + "' have no common type";
    return std::nullopt;
  }
  if (isDivision && a.isUnsigned() != b.isUnsigned()) {
    error = "'" + toString(a) + "' and '" + toString(b) +
            "' differ in signedness, which makes division and remainder ambiguous; cast one of them";
    return std::nullopt;
  }
  return promoteIntegers(a, b);
}

} // namespace tile::frontend
