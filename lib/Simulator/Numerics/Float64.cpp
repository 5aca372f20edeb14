// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Numerics/Float64.h"

#include <algorithm>
#include <utility>

namespace tile::sim::numerics {
namespace {

using Wide = unsigned __int128;

/// The value ±significand · 2^exponent. The lowest bit of the significand is 1 if anything below that bit was lost.
struct Exact {
  bool negative = false;
  Wide significand = 0;
  int exponent = 0;
};

int highestBit(Wide value) {
  uint64_t high = uint64_t(value >> 64), low = uint64_t(value);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low); // -1 for zero
}

Wide shiftRightSticky(Wide value, int count) {
  if (count <= 0)
    return value;
  if (count > 127)
    return value != 0;
  bool lost = (value & ((Wide(1) << count) - 1)) != 0;
  return (value >> count) | Wide(lost);
}

Exact unpack(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int field = int(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (field == 0)
    return {bool(bits >> 63), fraction, -1074};
  return {bool(bits >> 63), fraction | uint64_t(1) << 52, field - 1075};
}

double round(const Exact &value, Rounding rounding) {
  if (value.significand == 0)
    return value.negative ? -0.0 : 0.0;
  int top = highestBit(value.significand);
  // The last bit that is kept has the weight 2^last.
  int last = std::max(value.exponent + top - 52, -1074);
  int shift = last - value.exponent;
  Wide kept = shift <= 0 ? value.significand << -shift : shift > 127 ? Wide(0) : value.significand >> shift;
  Wide remainder = shift <= 0 ? Wide(0) : shift > 127 ? value.significand : value.significand - (kept << shift);
  // Compares twice the remainder with one unit of the last bit. After a shift by more than 127, the remainder is less
  // than half a unit.
  bool isAboveHalf = shift > 0 && shift <= 127 && remainder > (Wide(1) << (shift - 1));
  bool isHalf = shift > 0 && shift <= 127 && remainder == (Wide(1) << (shift - 1));
  bool up = false;
  switch (rounding) {
  case Rounding::NearestEven:
    up = isAboveHalf || (isHalf && (kept & 1));
    break;
  case Rounding::NearestAway:
    up = isAboveHalf || isHalf;
    break;
  case Rounding::Zero:
    break;
  case Rounding::Down:
    up = value.negative && remainder != 0;
    break;
  case Rounding::Up:
    up = !value.negative && remainder != 0;
    break;
  }
  uint64_t significand = uint64_t(kept) + up; // at most 2^53
  // The fields are packed as one integer, so a carry propagates into the exponent.
  uint64_t bits = significand;
  if (significand >> 52)
    bits += uint64_t(last + 1074) << 52;
  if (bits >= uint64_t(0x7ff) << 52 || last > 971) {
    bool toInfinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                      rounding == (value.negative ? Rounding::Down : Rounding::Up);
    bits = toInfinity ? uint64_t(0x7ff) << 52 : (uint64_t(0x7ff) << 52) - 1;
  }
  return std::bit_cast<double>(bits | uint64_t(value.negative) << 63);
}

/// Returns a + b; the significands of the operands have at most 106 bits.
Exact sum(Exact a, Exact b, Rounding rounding) {
  if (a.significand == 0 && b.significand == 0)
    return {a.negative == b.negative ? a.negative : rounding == Rounding::Down, 0, 0};
  // Both operands get their highest bit at 125, so the smaller one can lose bits only if the sum cannot cancel.
  for (Exact *part : {&a, &b}) {
    if (part->significand == 0)
      continue;
    int shift = 125 - highestBit(part->significand);
    part->significand <<= shift;
    part->exponent -= shift;
  }
  if (a.significand == 0 || (b.significand != 0 && b.exponent > a.exponent))
    std::swap(a, b);
  if (b.significand != 0)
    b.significand = shiftRightSticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative)
    return {a.negative, a.significand + b.significand, a.exponent};
  if (a.significand == b.significand)
    return {rounding == Rounding::Down, 0, 0};
  if (a.significand > b.significand)
    return {a.negative, a.significand - b.significand, a.exponent};
  return {b.negative, b.significand - a.significand, a.exponent};
}

Exact product(const Exact &a, const Exact &b) {
  return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
}

} // namespace

// If an operand is infinite or NaN, nothing is rounded, so the host's result is used.

double addDirected(double a, double b, Rounding rounding) {
  if (!std::isfinite(a) || !std::isfinite(b))
    return a + b;
  return round(sum(unpack(a), unpack(b), rounding), rounding);
}

double mulDirected(double a, double b, Rounding rounding) {
  if (!std::isfinite(a) || !std::isfinite(b))
    return a * b;
  return round(product(unpack(a), unpack(b)), rounding);
}

double fmaDirected(double a, double b, double c, Rounding rounding) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
    return std::fma(a, b, c);
  return round(sum(product(unpack(a), unpack(b)), unpack(c), rounding), rounding);
}

double divDirected(double a, double b, Rounding rounding) {
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0)
    return a / b;
  Exact dividend = unpack(a), divisor = unpack(b);
  int shift = 126 - highestBit(dividend.significand);
  dividend.significand <<= shift;
  dividend.exponent -= shift;
  Wide quotient = dividend.significand / divisor.significand; // at least 126 - 53 bits
  quotient |= Wide(quotient * divisor.significand != dividend.significand);
  return round({dividend.negative != divisor.negative, quotient, dividend.exponent - divisor.exponent}, rounding);
}

double sqrtDirected(double a, Rounding rounding) {
  if (!std::isfinite(a) || a <= 0)
    return std::sqrt(a);
  Exact value = unpack(a);
  int shift = 125 - highestBit(value.significand);
  if ((value.exponent - shift) & 1)
    --shift;
  value.significand <<= shift;
  value.exponent -= shift;
  Wide root = 0;
  for (Wide bit = Wide(1) << 63; bit; bit >>= 1)
    if ((root | bit) * (root | bit) <= value.significand)
      root |= bit;
  bool isExact = root * root == value.significand;
  // One more bit is appended to distinguish an inexact root from an exact one.
  return round({false, root << 1 | Wide(!isExact), value.exponent / 2 - 1}, rounding);
}

} // namespace tile::sim::numerics
