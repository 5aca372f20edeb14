// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The floating-point formats with fewer bits than float, bit-exact. The numbers of sign, exponent and mantissa bits
// are:
//
//   f16 1-5-10   bf16 1-8-7   tf32 1-8-10   e4m3 1-4-3   e5m2 1-5-2   e2m3 1-2-3   e3m2 1-3-2   e2m1 1-2-1
//   ue8m0 0-8-0
//
// e4m3 has no infinity and one NaN (S.1111.111), so its largest value is 448; e2m3, e3m2 and e2m1 have neither infinity
// nor NaN; ue8m0 is a power of two (0xff is NaN). PTX ISA 5.2.3, "Alternate floating-point data formats".
#pragma once

#include "Simulator/Numerics/Half.h"
#include "Simulator/Numerics/Rounding.h"

#include <type_traits>

namespace tile::sim::numerics {

struct Format {
  int mantissaBits;
  int exponentBits;
  int bias;
  double largest;
  bool hasInfinity;
  uint32_t nan; ///< the result of converting NaN
};

constexpr Format halfFormat = {10, 5, 15, 65504.0, true, 0x7fff};
constexpr Format bfloat16Format = {7, 8, 127, 0x1.fep127, true, 0x7fff};
constexpr Format tf32Format = {10, 8, 127, 0x1.ffcp127, true, 0x7fffffffu >> 13};
constexpr Format e4m3Format = {3, 4, 7, 448.0, false, 0x7f};
constexpr Format e5m2Format = {2, 5, 15, 57344.0, true, 0x7f};
constexpr Format e2m3Format = {3, 2, 1, 7.5, false, 0x1f}; // has no NaN: NaN becomes the largest value
constexpr Format e3m2Format = {2, 3, 3, 28.0, false, 0x1f};
constexpr Format e2m1Format = {1, 2, 1, 6.0, false, 0x7};

constexpr double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

/// Returns the encoding of `value` (exact, or rounded to odd), right-aligned. Values that are too large become infinity
/// or the largest value, depending on `rounding`; with `satFinite`, or in a format without infinity, they always become
/// the largest value.
template <const Format &format, Rounding rounding = Rounding::NearestEven>
inline uint32_t encode(double value, bool satFinite = false) {
  constexpr int smallestExponent = 1 - format.bias, largestExponent = (1 << format.exponentBits) - format.bias;
  uint64_t valueBits = std::bit_cast<uint64_t>(value);
  bool isNegative = valueBits >> 63;
  double magnitude = std::fabs(value);
  int exponent = int(valueBits >> 52 & 0x7ff) - 1023;
  exponent = exponent < smallestExponent ? smallestExponent : exponent;
  exponent = exponent > largestExponent ? largestExponent : exponent;
  double quantum = powerOfTwo(exponent - format.mantissaBits);

  // Adding 2^52 quanta leaves no bits after the binary point, and the host rounds the sum to nearest even.
  double shift = powerOfTwo(exponent - format.mantissaBits + 52);
  double rounded = (magnitude + shift) - shift;
  bool awayFromZero = rounding == (isNegative ? Rounding::Down : Rounding::Up);
  if constexpr (rounding == Rounding::NearestAway) {
    rounded += magnitude - rounded == quantum / 2 ? quantum : 0;
  } else if constexpr (rounding != Rounding::NearestEven) {
    double down = rounded > magnitude ? quantum : 0, up = rounded < magnitude ? quantum : 0;
    rounded += awayFromZero ? up : -down;
  }

  bool isTooLarge = rounded > format.largest;
  bool roundsToInfinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway || awayFromZero ||
                          magnitude == __builtin_inf();
  bool isInfinite = isTooLarge & roundsToInfinity & format.hasInfinity & !satFinite;
  rounded = isTooLarge ? format.largest : rounded;

  constexpr int dropped = 52 - format.mantissaBits;
  constexpr uint64_t rebias = uint64_t(1023 - format.bias) << format.mantissaBits;
  uint32_t normal = uint32_t((std::bit_cast<uint64_t>(rounded) >> dropped) - rebias);
  bool isSubnormal = rounded < powerOfTwo(smallestExponent);
  double quanta = (isSubnormal ? rounded : 0) * powerOfTwo(format.mantissaBits - smallestExponent);
  uint32_t bits = isSubnormal ? uint32_t(int32_t(quanta)) : normal;
  constexpr uint32_t infinity = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  bits = isInfinite ? infinity : bits;
  bits |= uint32_t(isNegative) << (format.mantissaBits + format.exponentBits);
  return value != value ? format.nan : bits;
}

template <const Format &format> inline double decode(uint32_t bits) {
  constexpr int smallestExponent = 1 - format.bias;
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  uint32_t exponent = bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  bool isNegative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  constexpr uint32_t largestExponent = (1u << format.exponentBits) - 1;
  double magnitude = exponent == 0 ? mantissa * powerOfTwo(smallestExponent - format.mantissaBits)
                                   : std::bit_cast<double>(uint64_t(exponent + 1023 - format.bias) << 52 |
                                                           uint64_t(mantissa) << (52 - format.mantissaBits));
  if constexpr (format.hasInfinity)
    magnitude = exponent != largestExponent ? magnitude : mantissa ? __builtin_nan("") : __builtin_inf();
  if constexpr (format.nan == 0x7f && !format.hasInfinity) // e4m3
    magnitude = (bits & 0x7f) == 0x7f ? __builtin_nan("") : magnitude;
  return isNegative ? -magnitude : magnitude;
}

// Conversions of f16 and bf16, by their types. NaNs keep their payloads: see canonical().
inline float toFloat(Half value) {
  uint32_t magnitude = value.bits & 0x7fff;
  uint32_t bits = (magnitude << 13) + (uint32_t(127 - 15) << 23);
  bits = magnitude >= 0x7c00 ? 0x7f800000u | magnitude << 13 : bits;
  bits = magnitude < 0x400 ? std::bit_cast<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f) : bits;
  return std::bit_cast<float>(bits | uint32_t(value.bits & 0x8000) << 16);
}
inline float toFloat(BFloat16 value) {
  return std::bit_cast<float>(uint32_t(value.bits) << 16);
}

/// Converts a double that is exact or rounded to odd to f16 or bf16. NaN becomes 0x7fff.
template <typename T, Rounding rounding = Rounding::NearestEven> inline T narrow(double value, bool satFinite = false) {
  if constexpr (std::is_same_v<T, Half>)
    return {uint16_t(encode<halfFormat, rounding>(value, satFinite))};
  else
    return {uint16_t(encode<bfloat16Format, rounding>(value, satFinite))};
}

} // namespace tile::sim::numerics
