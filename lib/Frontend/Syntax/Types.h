// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types of the language, and their promotion rules (plain C++, no MLIR).
//
// MLIR integers are signless, and only the front end distinguishes unsigned values, so it has separate types.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tile::frontend {

enum class Scalar : uint8_t {
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3,
  Float8E5M2,
  Float8E4B15, ///< predecessor of e4m3; stored as an 8-bit integer (EmitFloat8.cpp)
  Float16,
  BFloat16,
  Float32,
  Float64,
};

/// A scalar type, or a pointer to it.
struct DType {
  Scalar scalar = Scalar::Int32;
  bool isPointer = false;
  bool isConst = false; // pointer to const

  DType() = default;
  DType(Scalar scalar, bool isPointer = false, bool isConst = false)
      : scalar(scalar), isPointer(isPointer), isConst(isConst) {}

  bool operator==(const DType &other) const { return scalar == other.scalar && isPointer == other.isPointer; }
  bool isFloat() const { return !isPointer && scalar >= Scalar::Float8E4M3; }
  bool isFp8() const { return !isPointer && scalar >= Scalar::Float8E4M3 && scalar <= Scalar::Float8E4B15; }
  bool isInt() const { return !isPointer && scalar < Scalar::Float8E4M3; } // includes int1
  bool isBool() const { return !isPointer && scalar == Scalar::Int1; }
  bool is(Scalar wanted) const { return !isPointer && scalar == wanted; }
  /// int1 is treated as unsigned.
  bool isUnsigned() const { return scalar == Scalar::Int1 || (scalar >= Scalar::UInt8 && scalar <= Scalar::UInt64); }
  unsigned bits() const; // width of the scalar; 64 for a pointer
  DType pointee() const { return DType(scalar); }
};

/// Returns Triton's spelling of the type: "fp16", "int32", "pointer<fp16>".
std::string toString(DType type);
/// Returns the spelling in the manifest and in annotations: "f16", "i32", "u8", "ptr<f16>".
std::string shortName(DType type);
/// Finds a type by any of its names: float16, fp16, f16, half; int1, i1, bool; float8e4nv, fp8e4nv, f8e4m3; ...
std::optional<DType> dtypeByName(std::string_view name);

/// Returns the range of an integer type, as 128-bit integers.
__int128 minValue(DType type);
__int128 maxValue(DType type);

/// Returns the type of a literal: i32, u32, i64, u64 by magnitude; nullopt if it needs more than 64 bits.
std::optional<DType> typeOfInteger(__int128 value);
/// Returns fp32, or fp64 if the magnitude is outside fp32's normal range.
DType typeOfFloat(double value);

struct OperandType {
  DType type;
  bool isWeak = false; // a Python number: literal or constexpr
};

/// Returns the type in which an arithmetic operation is computed. On failure, sets 'error' to the reason.
std::optional<DType> promote(OperandType left, OperandType right, bool isDivision, std::string &error);
/// Applies C's usual arithmetic conversions to integers.
DType promoteIntegers(DType left, DType right);

} // namespace tile::frontend
