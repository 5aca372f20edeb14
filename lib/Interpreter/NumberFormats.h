// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numeric formats of tile programs on the host.
//
// A value of a float type narrower than 32 bits is stored as the equal float, so all arithmetic is float arithmetic
// followed by one rounding step (`roundTo`), and loads and stores convert (`decode`, `encode`). Rounding a float result
// again to 16 bits or less equals direct rounding for + - * / and sqrt, because 24 bits are at least twice 11 plus 2.
// Conversions from wider types go through round-to-odd, which preserves that property. f8 conversions saturate to the
// largest finite number, as PTX `cvt.rn.satfinite` does; the other types overflow to infinity. The rounding functions
// have no branches, so loops over arrays vectorize.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::interp {

/// Representation of the elements of a value: integers by width, floats by format, pointers, descriptors.
enum class Kind : uint8_t { I1, I8, I16, I32, I64, F8E4M3, F8E5M2, F16, BF16, F32, F64, Pointer, Descriptor };

constexpr bool isInteger(Kind kind) {
  return kind <= Kind::I64;
}
constexpr bool isFloat(Kind kind) {
  return kind >= Kind::F8E4M3 && kind <= Kind::F64;
}
/// Returns true if values are stored as floats that are rounded after every operation.
constexpr bool isSmallFloat(Kind kind) {
  return kind >= Kind::F8E4M3 && kind <= Kind::BF16;
}

/// A binary format: explicit mantissa bits, exponent of the smallest normal number, bits of the largest finite float.
struct Format {
  int mantissa, minExponent;
  uint32_t maximum;
  bool saturates;
  constexpr int dropped() const { return 23 - mantissa; }
  constexpr uint32_t firstNormal() const { return uint32_t(127 + minExponent) << 23; }
};
inline constexpr Format kHalf{10, -14, std::bit_cast<uint32_t>(65504.0f), false};
inline constexpr Format kBrain{7, -126, 0x7f7f0000u, false};
inline constexpr Format kE4M3{3, -6, std::bit_cast<uint32_t>(448.0f), true};
inline constexpr Format kE5M2{2, -14, std::bit_cast<uint32_t>(57344.0f), true};

/// The mantissa bit that is set in the NaNs that conversions return. Without it, a NaN whose other mantissa bits do not
/// fit into the format would become an infinity.
inline constexpr uint32_t quietBit = 0x400000u;

/// Rounds to the nearest value of the format, ties to even.
template <Format format> inline float roundToFormat(float value) {
  constexpr int dropped = format.dropped();
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  uint32_t rounded = (magnitude + ((1u << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1)) & ~((1u << dropped) - 1);
  if constexpr (format.minExponent > -126) { // bf16 subnormals are spaced like its bits
    // Adding a value whose last bit is the smallest spacing makes the addition round at that bit.
    constexpr float shifter = std::bit_cast<float>(uint32_t(127 + format.minExponent + dropped) << 23);
    uint32_t subnormal = std::bit_cast<uint32_t>((std::bit_cast<float>(magnitude) + shifter) - shifter);
    rounded = magnitude < format.firstNormal() ? subnormal : rounded;
  }
  rounded = rounded > format.maximum ? (format.saturates ? format.maximum : 0x7f800000u) : rounded;
  return std::bit_cast<float>((magnitude > 0x7f800000u ? magnitude | quietBit : rounded) | sign);
}

/// Rounds towards zero to a value of the format.
template <Format format> inline float truncateToFormat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return std::bit_cast<float>(bits | quietBit);
  if (magnitude == 0x7f800000u && !format.saturates)
    return value;
  uint32_t cut = magnitude & ~((1u << format.dropped()) - 1);
  if (magnitude < format.firstNormal()) {
    int scale = format.mantissa - format.minExponent;
    cut = std::bit_cast<uint32_t>(std::ldexp(std::floor(std::ldexp(std::bit_cast<float>(magnitude), scale)), -scale));
  }
  return std::bit_cast<float>((cut > format.maximum ? format.maximum : cut) | sign);
}

inline float roundTo(Kind kind, float value) {
  switch (kind) {
  case Kind::F8E4M3:
    return roundToFormat<kE4M3>(value);
  case Kind::F8E5M2:
    return roundToFormat<kE5M2>(value);
  case Kind::F16:
    return roundToFormat<kHalf>(value);
  case Kind::BF16:
    return roundToFormat<kBrain>(value);
  default:
    return value;
  }
}

inline float truncateTo(Kind kind, float value) {
  switch (kind) {
  case Kind::F8E4M3:
    return truncateToFormat<kE4M3>(value);
  case Kind::F8E5M2:
    return truncateToFormat<kE5M2>(value);
  case Kind::F16:
    return truncateToFormat<kHalf>(value);
  case Kind::BF16:
    return truncateToFormat<kBrain>(value);
  default:
    return value;
  }
}

/// Truncates to the 10 mantissa bits of tf32, as tensor cores do, which ignore the other bits.
inline float truncateToTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return value != value ? value : std::bit_cast<float>(bits & 0xffffe000u);
}

/// Rounds `value` to a float towards zero. With `odd`, sets the last bit if the result is inexact (round to odd), so
/// that a second rounding to a narrower format is correct.
inline float narrow(double value, bool odd) {
  float nearest = float(value);
  if (double(nearest) == value || value != value)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(double(nearest)) > std::fabs(value))
    --bits;
  return std::bit_cast<float>(odd ? bits | 1 : bits);
}

/// Encodes a float that the format represents exactly as the bits in memory, at most 32; decodeFormat does the reverse.
template <Format format> inline uint32_t encodeFormat(float value, int width, bool hasInfinity) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 31) << (width - 1), magnitude = bits & 0x7fffffffu;
  uint32_t exponentMask = ((1u << (width - 1 - format.mantissa)) - 1) << format.mantissa;
  if (magnitude > 0x7f800000u) // the quiet bit, and as much of the payload as fits
    return sign | (hasInfinity ? exponentMask | (1u << (format.mantissa - 1)) |
                                     ((magnitude >> format.dropped()) & ((1u << format.mantissa) - 1))
                               : (1u << (width - 1)) - 1);
  if (magnitude == 0x7f800000u)
    return sign | exponentMask;
  if (magnitude < format.firstNormal())
    return sign | uint32_t(std::bit_cast<float>(magnitude) *
                           std::bit_cast<float>(uint32_t(127 + format.mantissa - format.minExponent) << 23));
  return sign | ((magnitude - format.firstNormal() + 0x800000u) >> format.dropped());
}

template <Format format> inline float decodeFormat(uint32_t bits, int width, bool hasInfinity) {
  uint32_t magnitude = bits & ((1u << (width - 1)) - 1);
  uint32_t sign = (bits >> (width - 1)) << 31;
  uint32_t allOnes = ((1u << (width - 1 - format.mantissa)) - 1) << format.mantissa;
  uint32_t result;
  if (hasInfinity ? magnitude >= allOnes : magnitude == (1u << (width - 1)) - 1)
    result = 0x7f800000u | (hasInfinity ? (magnitude - allOnes) << format.dropped() : 0x400000u);
  else if (magnitude < (1u << format.mantissa))
    result = std::bit_cast<uint32_t>(float(magnitude) *
                                     std::bit_cast<float>(uint32_t(127 + format.minExponent - format.mantissa) << 23));
  else
    result = (magnitude << format.dropped()) + format.firstNormal() - 0x800000u;
  return std::bit_cast<float>(result | sign);
}

/// Returns the memory bits of a value of a float kind stored as a float (F64 is not handled here).
inline uint32_t encode(Kind kind, float value) {
  switch (kind) {
  case Kind::F8E4M3:
    return encodeFormat<kE4M3>(value, 8, false);
  case Kind::F8E5M2:
    return encodeFormat<kE5M2>(value, 8, true);
  case Kind::F16:
    return encodeFormat<kHalf>(value, 16, true);
  case Kind::BF16:
    return std::bit_cast<uint32_t>(value) >> 16;
  default:
    return std::bit_cast<uint32_t>(value);
  }
}

inline float decode(Kind kind, uint32_t bits) {
  switch (kind) {
  case Kind::F8E4M3:
    return decodeFormat<kE4M3>(bits, 8, false);
  case Kind::F8E5M2:
    return decodeFormat<kE5M2>(bits, 8, true);
  case Kind::F16:
    return decodeFormat<kHalf>(bits, 16, true);
  case Kind::BF16:
    return std::bit_cast<float>(bits << 16);
  default:
    return std::bit_cast<float>(bits);
  }
}

} // namespace tile::interp
