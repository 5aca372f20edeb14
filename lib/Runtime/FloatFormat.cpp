// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generic encoder and decoder, parameterized by the widths of exponent and mantissa.
#include "Runtime/FloatFormat.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace tile::runtime {
namespace {

struct Format {
  int exponentBits;
  int mantissaBits;
  bool hasInfinity;
};

Format formatOf(DataType type) {
  switch (type) {
  case DataType::F16:
    return {5, 10, true};
  case DataType::BF16:
    return {8, 7, true};
  case DataType::F8E5M2:
    return {5, 2, true};
  case DataType::F8E4M3:
    return {4, 3, false};
  default:
    assert(false && "not a small float type");
    return {8, 23, true};
  }
}

uint64_t encodeSmall(const Format &format, double value) {
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint64_t sign = uint64_t(std::signbit(value)) << (format.exponentBits + format.mantissaBits);
  const uint64_t exponentOnes = ((uint64_t(1) << format.exponentBits) - 1) << format.mantissaBits;
  const uint64_t mantissaOnes = (uint64_t(1) << format.mantissaBits) - 1;
  const uint64_t nan = exponentOnes | (format.hasInfinity ? uint64_t(1) << (format.mantissaBits - 1) : mantissaOnes);
  const uint64_t overflow = format.hasInfinity ? exponentOnes : nan;
  if (std::isnan(value))
    return sign | nan;
  if (std::isinf(value))
    return sign | overflow;
  if (value == 0)
    return sign;
  const double magnitude = std::fabs(value);
  // The last mantissa bit has the value 2^(exponent - mantissaBits). Below the smallest normal number the exponent is
  // constant.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  // `units` counts units in the last place. Adding it to the exponent field lets a rounding carry propagate into the
  // exponent.
  const uint64_t implicitOne = uint64_t(1) << format.mantissaBits;
  const uint64_t count = static_cast<uint64_t>(units);
  if (count < implicitOne)
    return sign | count; // subnormal
  if (exponent + bias > (1 << format.exponentBits))
    return sign | overflow;
  const uint64_t bits = (uint64_t(exponent + bias) << format.mantissaBits) + (count - implicitOne);
  const uint64_t firstBad = format.hasInfinity ? exponentOnes : nan;
  return sign | (bits >= firstBad ? overflow : bits);
}

double decodeSmall(const Format &format, uint64_t bits) {
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint64_t mantissaOnes = (uint64_t(1) << format.mantissaBits) - 1;
  const uint64_t exponentOnes = (uint64_t(1) << format.exponentBits) - 1;
  const uint64_t mantissa = bits & mantissaOnes;
  const uint64_t exponent = (bits >> format.mantissaBits) & exponentOnes;
  const bool negative = (bits >> (format.mantissaBits + format.exponentBits)) & 1;
  double value = 0;
  if (exponent == exponentOnes && (format.hasInfinity || mantissa == mantissaOnes))
    value = format.hasInfinity && mantissa == 0 ? std::numeric_limits<double>::infinity()
                                                : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - format.mantissaBits);
  else
    value = std::ldexp(static_cast<double>(mantissa + mantissaOnes + 1),
                       static_cast<int>(exponent) - bias - format.mantissaBits);
  return negative ? -value : value;
}

} // namespace

uint64_t encodeFloat(DataType type, double value) {
  if (type == DataType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DataType::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  return encodeSmall(formatOf(type), value);
}

double decodeFloat(DataType type, uint64_t bits) {
  if (type == DataType::F64)
    return std::bit_cast<double>(bits);
  if (type == DataType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return decodeSmall(formatOf(type), bits);
}

} // namespace tile::runtime
