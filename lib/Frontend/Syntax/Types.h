// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types of the language and the rules by which operands of different types meet (plain C++, no MLIR).
//
// MLIR integers are signless; the front end alone knows which values are unsigned, so it keeps its own type.

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
  Float8E4B15, ///< before there was e4m3; held as an integer of 8 bits (EmitFloat8.cpp)
  Float16,
  BFloat16,
  Float32,
  Float64,
};

/// A number, or a pointer to numbers.
struct DType {
  Scalar scalar = Scalar::Int32;
  bool isPointer = false;
  bool isConst = false; // pointer through which nothing may be stored

  DType() = default;
  DType(Scalar scalar, bool isPointer = false, bool isConst = false)
      : scalar(scalar), isPointer(isPointer), isConst(isConst) {}

  bool operator==(const DType &other) const { return scalar == other.scalar && isPointer == other.isPointer; }
  bool isFloat() const { return !isPointer && scalar >= Scalar::Float8E4M3; }
  bool isFp8() const { return !isPointer && scalar >= Scalar::Float8E4M3 && scalar <= Scalar::Float8E4B15; }
  bool isInt() const { return !isPointer && scalar < Scalar::Float8E4M3; } // int1 included
  bool isBool() const { return !isPointer && scalar == Scalar::Int1; }
  bool is(Scalar wanted) const { return !isPointer && scalar == wanted; }
  /// int1 counts as unsigned.
  bool isUnsigned() const { return scalar == Scalar::Int1 || (scalar >= Scalar::UInt8 && scalar <= Scalar::UInt64); }
  unsigned bits() const; // of the number; 64 for a pointer
  DType pointee() const { return DType(scalar); }
};

/// "fp16", "int32", "pointer<fp16>": how Triton prints the type.
std::string toString(DType type);
/// "f16", "i32", "u8", "ptr<f16>": how the manifest and our annotations spell it.
std::string shortName(DType type);
/// Type by any of its names: float16, fp16, f16, half; int1, i1, bool; float8e4nv, fp8e4nv, f8e4m3; ...
std::optional<DType> dtypeByName(std::string_view name);

/// Range of an integer type, as 128-bit numbers.
__int128 minValue(DType type);
__int128 maxValue(DType type);

/// Type of a literal: i32, u32, i64, u64 by magnitude; nothing when it needs more than 64 bits.
std::optional<DType> typeOfInteger(__int128 value);
/// fp32, or fp64 when the magnitude is outside of fp32's normal range.
DType typeOfFloat(double value);

struct OperandType {
  DType type;
  bool isWeak = false; // a Python number: literal or constexpr
};

/// The type in which an arithmetic operation on two numbers is computed. On failure 'error' says why.
std::optional<DType> promote(OperandType left, OperandType right, bool isDivision, std::string &error);
/// C's usual arithmetic conversions on integers.
DType promoteIntegers(DType left, DType right);

} // namespace tile::frontend
