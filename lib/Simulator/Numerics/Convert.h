// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between integers and floating-point values: PTX ISA 9.7.9.21 (cvt).
#pragma once

#include "Simulator/Numerics/Formats.h"
#include "Simulator/Numerics/Integer.h"

namespace tile::sim::numerics {

/// Rounds a double to an integral double.
template <Rounding rounding> inline double roundToIntegral(double value) {
  double magnitude = std::fabs(value);
  double rounded = std::copysign((magnitude + 0x1p52) - 0x1p52, value);
  if constexpr (rounding == Rounding::Zero)
    rounded = std::fabs(rounded) > magnitude ? rounded - std::copysign(1.0, value) : rounded;
  if constexpr (rounding == Rounding::Down)
    rounded = rounded > value ? rounded - 1 : rounded;
  if constexpr (rounding == Rounding::Up)
    rounded = rounded < value ? rounded + 1 : rounded;
  rounded = magnitude < 0x1p52 ? rounded : value; // otherwise already integral, infinite or NaN
  return std::copysign(rounded, value);
}

/// Converts an integral double to an integer. Values out of range become the nearest integer, and NaN becomes zero.
template <typename T> inline T toInteger(double value) {
  using Limits = std::numeric_limits<T>;
  constexpr double largest = double(Limits::max()) < 0x1p62 ? double(Limits::max()) + 1 : double(Limits::max());
  constexpr double smallest = double(Limits::min());
  bool isTooLarge = value >= largest, isTooSmall = value <= smallest;
  double inRange = (isTooLarge | isTooSmall | (value != value)) ? 0 : value;
  T result;
  if constexpr (std::is_same_v<T, uint64_t>) {
    bool isUpper = inRange >= 0x1p63;
    result = uint64_t(int64_t(isUpper ? inRange - 0x1p63 : inRange)) ^ (isUpper ? uint64_t(1) << 63 : 0);
  } else {
    result = T(int64_t(inRange));
  }
  result = isTooLarge ? Limits::max() : result;
  return isTooSmall ? Limits::min() : result;
}

/// Converts an integer to double, rounded to odd.
inline double toDoubleOdd(uint64_t value) {
  uint64_t sticky = (value & ~uint64_t(0x7ff)) | uint64_t((value & 0x7ff) != 0) << 11;
  return double(value >> 53 ? sticky : value);
}
inline double toDoubleOdd(int64_t value) {
  double magnitude = toDoubleOdd(value < 0 ? -uint64_t(value) : uint64_t(value));
  return value < 0 ? -magnitude : magnitude;
}

/// Converts an integer, given by its magnitude and sign, to double.
inline double magnitudeToDouble(uint64_t value, bool isNegative, Rounding rounding) {
  if (rounding == Rounding::NearestEven || value >> 53 == 0)
    return isNegative ? -double(value) : double(value);
  int dropped = 11 - std::countl_zero(value); // number of bits beyond the 53 that a double has
  uint64_t kept = value >> dropped << dropped;
  bool up = kept != value && rounding == (isNegative ? Rounding::Down : Rounding::Up);
  double magnitude = double(kept) + (up ? double(uint64_t(1) << dropped) : 0.0);
  return isNegative ? -magnitude : magnitude;
}

/// Returns the exponent byte of a ue8m0 scale: the bits of the power of two 2^(bits - 127) with the exponent of
/// |value|. With `up`, rounds to the next power of two that is not smaller. 0xff is NaN.
inline uint32_t encodeScale(float value, bool up, bool satFinite) {
  uint32_t bits = std::bit_cast<uint32_t>(value) & 0x7fffffff;
  if (bits > 0x7f800000u)
    return 0xff;
  uint32_t exponent = bits >> 23, fraction = bits & 0x7fffff;
  if (up && exponent < 0xff) // a subnormal above 2^-127 has exponent 0 and becomes 2^-126
    exponent += exponent == 0 ? fraction > 0x400000 : fraction != 0;
  return exponent == 0xff && satFinite ? 0xfe : exponent;
}
inline double decodeScale(uint32_t bits) {
  return bits == 0xff ? __builtin_nan("") : powerOfTwo(int(bits) - 127);
}

} // namespace tile::sim::numerics
