// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of an MMA: as raw bits, as in registers and shared memory, and decoded for the tensor core.
#pragma once

#include "Simulator/Ptx/Module.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tile::sim::matrix {

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1, F64, E2M3, E3M2, E2M1 };

constexpr unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::TF32:
    return 32;
  case Element::B1:
    return 1;
  case Element::S4:
  case Element::U4:
  case Element::E2M1:
    return 4;
  case Element::E2M3:
  case Element::E3M2:
    return 6;
  case Element::F64:
    return 64;
  default:
    return 8;
  }
}
constexpr bool isFloat8(Element element) {
  return element == Element::E4M3 || element == Element::E5M2;
}
/// Returns true for floats of at most 8 bits, which one Blackwell instruction may mix.
constexpr bool isSmallFloat(Element element) {
  return isFloat8(element) || element >= Element::E2M3;
}
constexpr bool isInteger(Element element) {
  return element >= Element::S8 && element <= Element::B1;
}

/// One operand as raw bits, right-aligned. Element k of a line (a row of the left operand, or a column of the right
/// one) is bits[k * lines + line].
struct FactorBits {
  FactorBits(unsigned lines, unsigned depth) : lines(lines), depth(depth), bits(size_t(lines) * depth) {}
  uint32_t *at(unsigned k) { return bits.data() + size_t(k) * lines; }
  const uint32_t *at(unsigned k) const { return bits.data() + size_t(k) * lines; }

  unsigned lines, depth;
  std::vector<uint32_t> bits;
};

/// Scales for blocks of consecutive elements along k, by which the elements are multiplied exactly. value[b * lines +
/// line] is the scale of block b of a line, or NaN; `power` is the scale's power of two, or 0 for zero and NaN.
struct BlockScales {
  unsigned lines = 0, blockSize = 0;
  std::vector<double> value, power;
};
enum class ScaleType : uint8_t { UE8M0, UE4M3 };
/// Appends a scale, given by its byte, to `scales`.
void addScale(BlockScales &scales, ScaleType type, uint8_t bits);
/// Returns true if any scale of the line is NaN.
bool hasNan(const BlockScales &scales, unsigned line);

/// The decoded elements of an operand. `power` is the power of two that the tensor core uses to align terms: 2^exponent
/// as encoded, so for subnormals the smallest exponent of the format, and 0 for zeros. Infinities and NaN have the
/// value and power 0 and are marked in `special`.
template <typename Real> struct Factor {
  Factor(const FactorBits &from, Element element);
  /// Multiplies the elements by the scales of their blocks.
  void scale(const BlockScales &scales);
  const Real *values(unsigned k) const { return value.get() + size_t(k) * lines; }
  const Real *powers(unsigned k) const { return power.get() + size_t(k) * lines; }
  bool isSpecial(unsigned line) const { return !special.empty() && special[line]; }

  unsigned lines, depth;
  std::unique_ptr<Real[]> value, power;
  std::vector<uint8_t> special; ///< for each line, whether it contains an infinity or NaN; empty if no line does
};

/// Returns the value that the bits represent, including infinities and NaN.
double toDouble(Element element, uint32_t bits);

/// Converts an 8-bit float to f16, which is exact.
uint32_t toHalf(Element element, uint32_t bits);

/// Returns the values of integer elements.
std::vector<int32_t> toIntegers(const FactorBits &from, Element element);

} // namespace tile::sim::matrix
