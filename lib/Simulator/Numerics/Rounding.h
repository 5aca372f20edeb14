// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding in software, so results do not depend on the host's rounding mode, and loops over lanes vectorize.
//
// Most PTX operations are computed in double, where the product of two floats is exact and a sum is rounded *to odd*:
// if it is inexact, its last bit is 1. In a format with at most 51 bits, such a value lies on the same side of every
// representable value and every midpoint as the exact sum, so rounding it once more gives the same result as rounding
// the exact sum (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::sim::numerics {

enum class Rounding : uint8_t {
  NearestEven, ///< .rn
  Zero,        ///< .rz
  Down,        ///< .rm
  Up,          ///< .rp
  NearestAway  ///< .rna: ties away from zero
};

/// Returns a + b, rounded to odd.
inline double addToOdd(double a, double b) {
  double sum = a + b;
  double fromB = sum - a;
  double error = (a - (sum - fromB)) + (b - fromB); // exactly a + b - sum (Knuth's TwoSum); NaN if sum is infinite
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  bool isInexact = (error > 0) | (error < 0);
  bool isAway = (error > 0) == (sum > 0); // the exact sum is farther from zero
  uint64_t toOdd = isAway ? 1 : ~uint64_t(0);
  bits += (isInexact & !(bits & 1)) ? toOdd : 0;
  return std::bit_cast<double>(bits);
}

/// Rounds a double that is exact or rounded to odd to float. NaNs keep a part of their payload: see canonical().
template <Rounding rounding> inline float roundToFloat(double value) {
  float nearest = float(value);
  if constexpr (rounding == Rounding::NearestEven)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  uint32_t away = bits + 1, toZero = bits - 1; // neighbours in magnitude; for -0, `away` is the smallest negative
  bool isNegative = bits >> 31;
  double rounded = nearest;
  if constexpr (rounding == Rounding::Zero)
    bits = std::fabs(rounded) > std::fabs(value) ? toZero : bits;
  if constexpr (rounding == Rounding::Down)
    bits = rounded > value ? (isNegative ? away : toZero) : bits;
  if constexpr (rounding == Rounding::Up)
    bits = rounded < value ? (isNegative ? toZero : away) : bits;
  if constexpr (rounding == Rounding::NearestAway) {
    // If `value` is a tie that was rounded to even towards zero, the next float away from zero is equally near.
    float other = std::bit_cast<float>(away);
    bool isTie = std::fabs(value) - std::fabs(rounded) == std::fabs(double(other)) - std::fabs(value);
    bits = isTie ? away : bits;
  }
  return std::bit_cast<float>(bits);
}

/// Replaces NaN by the NaN that float arithmetic returns for any NaN operand (PTX ISA 9.7.3).
inline float canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}

/// .ftz: replaces a subnormal by zero of the same sign.
inline float flushSubnormal(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000u) ? bits : bits & 0x80000000u);
}

/// Applies .ftz to `rounded`, a result whose exact value is `exact`. A result counts as subnormal if it is subnormal
/// after rounding to 24 bits with an unlimited exponent: (1 - 2^-24) 2^-126, which `rounded` contains as 2^-126,
/// becomes zero.
template <Rounding rounding> inline float flushTiny(float rounded, double exact) {
  bool isTiny = std::fabs(roundToFloat<rounding>(exact * 0x1p64)) < 0x1p-62f;
  return isTiny ? std::copysign(0.0f, rounded) : rounded;
}

/// .sat: clamps to [0, 1]; NaN becomes +0.
template <typename T> inline T saturate(T value) {
  T atLeast = value > T(0) ? value : T(0); // also 0 for NaN and -0
  return atLeast < T(1) ? atLeast : T(1);
}

} // namespace tile::sim::numerics
