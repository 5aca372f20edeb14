// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the rules of the tensor core one by one, and its vectorized sums against exact ones.
#include "Simulator/Exec/Matrix/TensorCore.h"
#include "MatrixFactors.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace tile::sim::matrix {
namespace {

constexpr unsigned columns = 8;

/// Computes one row: a0 b0 + a1 b1 + … + c in column 0, with all other elements zero.
uint32_t sumOf(const MmaTraits &traits, unsigned depth, std::vector<std::pair<uint32_t, uint32_t>> factors,
               uint32_t c) {
  FactorBits left(1, depth), right(columns, depth);
  for (unsigned k = 0; k < factors.size(); ++k) {
    left.at(k)[0] = factors[k].first;
    right.at(k)[0] = factors[k].second;
  }
  uint32_t sums[columns] = {c};
  multiplyAdd(traits, left, right, sums);
  return sums[0];
}
uint32_t single(float value) {
  return std::bit_cast<uint32_t>(value);
}
constexpr uint32_t one = 0x3c00, minusOne = 0xbc00, two12 = 0x6c00 /* 2^12 */;
const MmaTraits half;

TEST(TensorCore, cutsOffBelow25BitsOfTheLargestTerm) {
  // 2^24 and 2^-2: one more bit would be lost.
  EXPECT_EQ(sumOf(half, 16, {{two12, two12}, {0x3800, 0x3400}, {0x3800, 0x3400}, {0x3400, one}, {0x3400, one}}, 0),
            single(0x1p24f)); // 4 quarters minus the bits that single precision drops
  // Cancellation shows which bits were kept: 2^24 + 2^-1 - 2^24, but not 2^24 + 2^-2 - 2^24.
  EXPECT_EQ(sumOf(half, 16, {{two12, two12}, {0x3800, one}, {0xec00, two12}}, 0), single(0x1p-1f));
  EXPECT_EQ(sumOf(half, 16, {{two12, two12}, {0x3400, 0x3800}, {0xec00, two12}}, 0), single(0.0f));
}

TEST(TensorCore, roundsTowardsZero) {
  EXPECT_EQ(sumOf(half, 16, {{one, one}}, single(0x1.fffffep23f)), single(0x1p24f));
  EXPECT_EQ(sumOf(half, 16, {{one, 0x3800}, {0x3800, 0x3800}}, single(0x1p24f)), single(0x1p24f));
  EXPECT_EQ(sumOf(half, 16, {{minusOne, 0x3800}}, single(-0x1p24f)), single(-0x1p24f));
}

TEST(TensorCore, halfAccumulatorsRoundToNearestEven) {
  MmaTraits traits = half;
  traits.accumulator = Accumulator::F16;
  EXPECT_EQ(sumOf(traits, 16, {{one, 0x1000 /* 2^-11 */}}, one), one);
  EXPECT_EQ(sumOf(traits, 16, {{one, 0x1000}}, one + 1), one + 2);
  EXPECT_EQ(sumOf(traits, 16, {{0x7bff, one}}, 0x7bff), 0x7c00u);
}

TEST(TensorCore, zerosAreNotAligned) {
  // A zero times 2^15 must not shift out the subnormal accumulator.
  EXPECT_EQ(sumOf(half, 16, {{0, 0x7800}}, 1), 1u);
  // The same without any other term.
  EXPECT_EQ(sumOf(half, 16, {}, 0x80000001), 0x80000001u);
  EXPECT_EQ(sumOf(half, 16, {{0x8000, one}}, 0x80000000), 0u);
}

TEST(TensorCore, specialValues) {
  constexpr uint32_t infinity = 0x7c00, nan = 0x7fffffff;
  EXPECT_EQ(sumOf(half, 16, {{infinity, one}}, 0), 0x7f800000u);
  EXPECT_EQ(sumOf(half, 16, {{infinity, minusOne}}, single(3)), 0xff800000u);
  EXPECT_EQ(sumOf(half, 16, {{infinity, minusOne}, {infinity, one}}, 0), nan);
  EXPECT_EQ(sumOf(half, 16, {{infinity, 0}}, 0), nan);
  EXPECT_EQ(sumOf(half, 16, {{one, one}}, 0xffc12345), nan);
  EXPECT_EQ(sumOf(half, 16, {{one, one}}, 0xff800000), 0xff800000u);
  EXPECT_EQ(sumOf({Element::BF16, Element::BF16}, 16, {{0x7f00, 0x7f00}, {0xff00, 0x7f00}, {0x3f80, 0x3f80}}, 0), 0u);
  EXPECT_EQ(sumOf({Element::BF16, Element::BF16}, 16, {{0x7f00, 0x7f00}}, 0), 0x7f800000u);
}

TEST(TensorCore, floats8OfWgmmaHave13Bits) {
  MmaTraits traits{Element::E4M3, Element::E4M3, Accumulator::F32, true};
  constexpr uint32_t one8 = 0x38;
  EXPECT_EQ(sumOf(traits, 32, {{one8, one8}}, single(0x1p13f)), single(0x1p13f + 1));
  EXPECT_EQ(sumOf(traits, 32, {{one8, one8}}, single(0x1p14f)), single(0x1p14f));
  traits.isWarpGroup = false; // mma.sync adds the accumulator in single precision
  EXPECT_EQ(sumOf(traits, 32, {{one8, one8}}, single(0x1p14f)), single(0x1p14f + 1));
  // The tie is rounded to nearest even.
  EXPECT_EQ(sumOf(traits, 32, {{one8, 0x30}}, single(0x1p23f + 1)), single(0x1p23f + 2));
}

TEST(TensorCore, doublesPassOnTheNanOfTheRightFactorFirst) {
  auto nan = [](uint64_t payload) { return std::bit_cast<double>(uint64_t(0x7ff8) << 48 | payload); };
  auto fuse = [](double left, double right, double sum) {
    double leftRow[] = {left}, rightColumn[] = {right};
    multiplyAdd(1, 1, 1, leftRow, rightColumn, &sum);
    return std::bit_cast<uint64_t>(sum);
  };
  EXPECT_EQ(fuse(nan(1), nan(2), nan(3)), std::bit_cast<uint64_t>(nan(2)));
  EXPECT_EQ(fuse(nan(1), 1, nan(3)), std::bit_cast<uint64_t>(nan(3)));
  EXPECT_EQ(fuse(INFINITY, 1, -INFINITY), uint64_t(0xfff8) << 48);
  EXPECT_EQ(fuse(3, 0.5, 0.25), std::bit_cast<uint64_t>(1.75));
}

TEST(TensorCore, integersWrapOrSaturate) {
  MmaTraits traits{Element::S8, Element::U8, Accumulator::S32};
  EXPECT_EQ(sumOf(traits, 32, {{0x80, 0xff}, {0x01, 0x02}}, 5), uint32_t(-128 * 255 + 2 + 5));
  EXPECT_EQ(sumOf(traits, 32, {{1, 1}}, 0x7fffffff), 0x80000000u);
  traits.saturate = true;
  EXPECT_EQ(sumOf(traits, 32, {{1, 1}}, 0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(sumOf(traits, 32, {{0xff, 1}}, 0x80000000), 0x80000000u);
}

/// Computes the sum as the header describes it, term by term with 128-bit integers.
uint32_t exactSum(const std::vector<std::pair<double, int>> &terms, int fraction) {
  int largest = -10000;
  for (auto [value, exponent] : terms)
    if (value != 0)
      largest = std::max(largest, exponent);
  __int128 sum = 0;
  for (auto [value, exponent] : terms)
    if (value != 0)
      sum += int64_t(std::ldexp(value, fraction - largest));
  double magnitude = double(sum < 0 ? -sum : sum); // less than 2^53
  uint64_t bits = std::bit_cast<uint64_t>(std::ldexp(magnitude, largest - fraction)) >> 29 << 29;
  float result = float(std::bit_cast<double>(bits));
  return result == 0 ? 0 : std::bit_cast<uint32_t>(sum < 0 ? -result : result);
}

TEST(TensorCore, agreesWithExactSums) {
  auto decode = [](uint64_t bits) { // a normal f16, or zero
    int exponent = int(bits >> 10 & 31) - 15;
    double value = bits & 0x7fff ? std::ldexp(double(0x400 | (bits & 0x3ff)), exponent - 10) : 0;
    return std::pair(bits & 0x8000 ? -value : value, exponent);
  };
  for (unsigned index : {0u, 2u, 4u, 5u, 8u, 10u, 12u, 13u}) { // no subnormals, infinities or NaN
    MatrixFactors factors = floatFactors(99, index, 16, 256, 16, f16Format, f16Format, f32Format);
    FactorBits left(16, 16), right(256, 16);
    for (unsigned k = 0; k < 16; ++k) {
      for (unsigned row = 0; row < 16; ++row)
        left.at(k)[row] = uint32_t(factors.left[row * 16 + k]);
      for (unsigned column = 0; column < 256; ++column)
        right.at(k)[column] = uint32_t(factors.right[k * 256 + column]);
    }
    std::vector<uint32_t> sums(factors.sums.begin(), factors.sums.end());
    multiplyAdd(half, left, right, sums.data());
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 256; ++column) {
        float c = std::bit_cast<float>(uint32_t(factors.sums[row * 256 + column]));
        std::vector<std::pair<double, int>> terms = {{c, c == 0 ? 0 : std::ilogb(c)}};
        for (unsigned k = 0; k < 16; ++k) {
          auto [a, aExponent] = decode(factors.left[row * 16 + k]);
          auto [b, bExponent] = decode(factors.right[k * 256 + column]);
          terms.push_back({a * b, aExponent + bExponent});
        }
        ASSERT_EQ(sums[row * 256 + column], exactSum(terms, 25)) << index << ": " << row << ", " << column;
      }
  }
}

} // namespace
} // namespace tile::sim::matrix
