// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// min, max, abs, neg and copysign of floating-point values, computed on their bits.
//
// If one operand of min or max is NaN, the result is the other operand or, with .NaN, NaN. -0 is less than +0. With
// .xorsign.abs, the operation applies to the magnitudes, and the sign of the result is the XOR of the signs. PTX ISA
// 9.7.3.12, 9.7.4.7.
#pragma once

#include "Simulator/Numerics/Float64.h"
#include "Simulator/Numerics/HalfFloat.h"

namespace tile::sim::numerics {

/// The integer type of a value's bits, and the bits of its special values.
template <typename T> struct BitsOf;
template <> struct BitsOf<float> {
  using Integer = uint32_t;
  static constexpr Integer infinity = 0x7f800000u, nan = 0x7fffffffu;
};
template <> struct BitsOf<double> {
  using Integer = uint64_t;
  static constexpr Integer infinity = uint64_t(0x7ff) << 52, nan = uint64_t(0x7ff8) << 48;
};
template <> struct BitsOf<Half> {
  using Integer = uint16_t;
  static constexpr Integer infinity = 0x7c00, nan = 0x7fff;
};
template <> struct BitsOf<BFloat16> {
  using Integer = uint16_t;
  static constexpr Integer infinity = 0x7f80, nan = 0x7fff;
};
template <typename T> using IntegerOf = typename BitsOf<T>::Integer;
template <typename T> constexpr IntegerOf<T> signBit = IntegerOf<T>(1) << (8 * sizeof(T) - 1);

template <typename T> inline IntegerOf<T> bitsOf(T value) {
  return std::bit_cast<IntegerOf<T>>(value);
}
template <typename T> inline T fromBits(IntegerOf<T> bits) {
  return std::bit_cast<T>(bits);
}
template <typename T> inline bool isNanBits(IntegerOf<T> bits) {
  return IntegerOf<T>(bits & IntegerOf<T>(~signBit<T>)) > BitsOf<T>::infinity;
}

/// Returns the NaN that results from a NaN operand: for doubles the operand, made quiet; otherwise a constant.
template <typename T> inline IntegerOf<T> nanFrom(IntegerOf<T> operand) {
  return std::is_same_v<T, double> ? operand | BitsOf<T>::nan : BitsOf<T>::nan;
}

enum class NanRule : uint8_t { PassOver, Propagate };

template <typename T, bool isMax, NanRule nanRule, bool xorSign> inline T minMax(T a, T b) {
  using Integer = IntegerOf<T>;
  using Signed = std::make_signed_t<Integer>;
  constexpr Integer sign = signBit<T>, magnitude = Integer(~sign);
  Integer x = bitsOf(a), y = bitsOf(b), signs = 0;
  if constexpr (xorSign) {
    signs = (x ^ y) & sign;
    x &= magnitude;
    y &= magnitude;
  }
  // Converts sign and magnitude to two's complement, in which integers are ordered as the values are.
  Signed keyX = Signed(x ^ (Integer(Signed(x) >> (8 * sizeof(T) - 1)) & magnitude));
  Signed keyY = Signed(y ^ (Integer(Signed(y) >> (8 * sizeof(T) - 1)) & magnitude));
  bool nanX = isNanBits<T>(x), nanY = isNanBits<T>(y);
  bool takeX = isMax ? keyX >= keyY : keyX <= keyY;
  takeX = nanX ? false : nanY ? true : takeX;
  Integer result = Integer((takeX ? x : y) | signs);
  bool isNan = nanRule == NanRule::Propagate ? nanX | nanY : nanX & nanY;
  return fromBits<T>(isNan ? nanFrom<T>(y) : result);
}

template <typename T> inline T absolute(T value) {
  IntegerOf<T> bits = bitsOf(value);
  return fromBits<T>(isNanBits<T>(bits) ? nanFrom<T>(bits) : IntegerOf<T>(bits & IntegerOf<T>(~signBit<T>)));
}
template <typename T> inline T negative(T value) {
  IntegerOf<T> bits = bitsOf(value);
  return fromBits<T>(isNanBits<T>(bits) ? nanFrom<T>(bits) : IntegerOf<T>(bits ^ signBit<T>));
}
/// Returns the magnitude of b with the sign of a.
template <typename T> inline T copySign(T a, T b) {
  return fromBits<T>((bitsOf(a) & signBit<T>) | (bitsOf(b) & IntegerOf<T>(~signBit<T>)));
}
/// .relu: replaces negative values and -0 by +0.
template <typename T> inline T clampNegative(T value) {
  IntegerOf<T> bits = bitsOf(value);
  return fromBits<T>(isNanBits<T>(bits) ? BitsOf<T>::nan : bits & signBit<T> ? IntegerOf<T>(0) : bits);
}

} // namespace tile::sim::numerics
