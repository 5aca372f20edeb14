// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixFactors.h"

#include <algorithm>
#include <cmath>

namespace tile::sim {
namespace {

enum class Style { Near, Any, Wide, Sparse, FewBits, Cancelling, Tiny, Special };

uint64_t pack(MatrixFormat format, unsigned sign, int exponent, uint64_t mantissa) {
  uint64_t bits = uint64_t(sign) << (format.exponentBits + format.mantissaBits) |
                  uint64_t(exponent) << format.mantissaBits | mantissa;
  return bits << format.unusedBits;
}

uint64_t generate(MatrixRandom &random, MatrixFormat format, Style style) {
  int bias = format.bias(), largest = (1 << format.exponentBits) - (format.hasInfinity ? 2 : 1);
  bool isNarrow = format.exponentBits < 8;
  unsigned sign = random.below(2);
  uint64_t mantissaMask = (uint64_t(1) << format.mantissaBits) - 1, mantissa = random.next() & mantissaMask;
  int exponent = bias;
  auto around = [&](int middle, int spread) { return middle - spread + int(random.below(2 * spread + 1)); };
  switch (style) {
  case Style::Near:
    exponent = around(bias, 2);
    break;
  case Style::Any:
    exponent = int(random.below(largest + 1));
    break;
  case Style::Wide:
    exponent = around(bias, isNarrow ? largest / 3 : 14);
    break;
  case Style::Sparse: {
    unsigned choice = random.below(10);
    exponent = choice < 6 ? 0 : around(bias - 2, 4);
    mantissa = choice < 4 ? 0 : mantissa;
    break;
  }
  case Style::FewBits: {
    unsigned choice = random.below(4), bit = random.below(format.mantissaBits);
    mantissa = choice == 0   ? 0
               : choice == 1 ? mantissaMask
               : choice == 2 ? uint64_t(1) << bit
                             : mantissa & mantissa >> 7;
    exponent = around(bias, 6);
    break;
  }
  case Style::Cancelling:
    exponent = around(bias, 1);
    break;
  case Style::Tiny: {
    unsigned choice = random.below(6);
    exponent = choice < 3 ? 0 : int(random.below(isNarrow ? 6 : 20));
    mantissa = choice == 0 ? 0 : mantissa;
    break;
  }
  case Style::Special: {
    unsigned choice = random.below(60), high = random.below(2);
    exponent = around(high ? largest - 3 : bias, 3);
    if (choice < 10) {
      exponent = 0;
      mantissa = choice < 6 ? 0 : mantissa;
    }
    if (choice < 2) { // infinity, NaN
      exponent = (1 << format.exponentBits) - 1;
      mantissa = !format.hasInfinity ? mantissaMask : choice == 0 ? 0 : mantissa | 1;
    }
    break;
  }
  }
  exponent = std::clamp(exponent, 0, style == Style::Special ? (1 << format.exponentBits) - 1 : largest);
  if (!format.hasInfinity && style != Style::Special && exponent == largest)
    mantissa &= ~uint64_t(1); // excludes NaN
  return pack(format, sign, exponent, mantissa);
}

double toDouble(MatrixFormat format, uint64_t bits) {
  bits >>= format.unusedBits;
  int exponent = int(bits >> format.mantissaBits & ((1u << format.exponentBits) - 1));
  uint64_t mantissa = bits & ((uint64_t(1) << format.mantissaBits) - 1);
  bool isNegative = bits >> (format.exponentBits + format.mantissaBits) & 1;
  uint64_t significand = exponent ? mantissa | uint64_t(1) << format.mantissaBits : mantissa;
  double magnitude = std::ldexp(double(significand), (exponent ? exponent : 1) - format.bias() - format.mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

/// Returns nearly the negative of a sum, so that the difference loses most of its bits; if that is out of range,
/// returns a value near 1.
uint64_t nearlyOpposite(MatrixRandom &random, MatrixFormat format, double sum) {
  uint64_t fallback = generate(random, format, Style::Near), flip = random.below(2);
  int exponent = 0;
  double fraction = std::frexp(std::fabs(sum), &exponent);
  int biased = exponent - 1 + format.bias();
  if (sum == 0 || !std::isfinite(sum) || biased < 1 || biased > (1 << format.exponentBits) - 2)
    return fallback;
  uint64_t mantissa = uint64_t((2 * fraction - 1) * std::ldexp(1.0, format.mantissaBits));
  return pack(format, sum > 0, biased, mantissa ^ flip);
}

uint64_t accumulator(MatrixRandom &random, MatrixFormat format, unsigned kind, double product) {
  switch (kind) {
  case 0:
    return 0;
  case 1:
    return generate(random, format, Style::Near);
  case 2:
    return generate(random, format, random.below(2) ? Style::Any : Style::Wide);
  case 3:
    return generate(random, format, random.below(2) ? Style::Tiny : Style::Special);
  case 4:
    return nearlyOpposite(random, format, product);
  default:
    return generate(random, format, Style::FewBits);
  }
}

} // namespace

MatrixFactors floatFactors(uint64_t seed, unsigned index, unsigned rows, unsigned columns, unsigned depth,
                           MatrixFormat left, MatrixFormat right, MatrixFormat sum) {
  MatrixRandom random(seed << 32 | index);
  MatrixFactors factors{rows,
                        columns,
                        depth,
                        std::vector<uint64_t>(rows * depth),
                        std::vector<uint64_t>(depth * columns),
                        std::vector<uint64_t>(rows * columns)};
  Style leftStyle = Style(index % 8), rightStyle = leftStyle;
  if (index / 48 % 2 && leftStyle != Style::Special) // mixed in half of the cases
    rightStyle = Style(random.below(7));
  for (uint64_t &bits : factors.left)
    bits = generate(random, left, leftStyle);
  for (uint64_t &bits : factors.right)
    bits = generate(random, right, rightStyle);
  if (leftStyle == Style::Cancelling)
    for (unsigned k = 1; k < depth; k += 2) {
      for (unsigned row = 0; row < rows; ++row)
        factors.left[row * depth + k] = factors.left[row * depth + k - 1];
      for (unsigned column = 0; column < columns; ++column)
        factors.right[k * columns + column] =
            factors.right[(k - 1) * columns + column] ^ uint64_t(1) << (right.bits() - 1) ^ random.below(4) / 3;
    }
  uint64_t unused = (uint64_t(1) << left.unusedBits) - 1; // bits that must not affect the result
  for (std::vector<uint64_t> *all : {&factors.left, &factors.right})
    for (uint64_t &bits : *all)
      bits |= random.next() & unused;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      double product = 0;
      for (unsigned k = 0; k < depth; ++k)
        product += toDouble(left, factors.left[row * depth + k]) * toDouble(right, factors.right[k * columns + column]);
      factors.sums[row * columns + column] = accumulator(random, sum, index / 8 % 6, product);
    }
  return factors;
}

MatrixFactors integerFactors(uint64_t seed, unsigned index, unsigned rows, unsigned columns, unsigned depth,
                             unsigned bits) {
  MatrixRandom random(seed << 32 | index);
  MatrixFactors factors{rows,
                        columns,
                        depth,
                        std::vector<uint64_t>(rows * depth),
                        std::vector<uint64_t>(depth * columns),
                        std::vector<uint64_t>(rows * columns)};
  uint64_t mask = (uint64_t(1) << bits) - 1;
  for (std::vector<uint64_t> *all : {&factors.left, &factors.right})
    for (uint64_t &value : *all) {
      value = random.next() & mask;
      if (index % 4 == 3 && random.below(4))
        value = random.below(2) ? mask >> 1 : mask;
    }
  for (uint64_t &value : factors.sums) {
    value = random.next() >> 32;
    if (index % 3 == 0) // near the ends of the range
      value = (value & 0xffff) | (random.below(2) ? 0x7fff0000u : 0x80000000u);
  }
  return factors;
}

} // namespace tile::sim
