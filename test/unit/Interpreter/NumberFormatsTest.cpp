// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats against LLVM's software floating point, exhaustively where there are few enough values.
#include "Interpreter/NumberFormats.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <gtest/gtest.h>
#include <random>

namespace tile::interp::test {
namespace {

using llvm::APFloat;
using llvm::APInt;

struct FormatCase {
  Kind kind;
  unsigned bits;
  const llvm::fltSemantics &semantics;
  float maximum;
  bool saturates;
};

const FormatCase kCases[] = {{Kind::F16, 16, APFloat::IEEEhalf(), 65504.0f, false},
                             {Kind::BF16, 16, APFloat::BFloat(), 0x1.fep127f, false},
                             {Kind::F8E4M3, 8, APFloat::Float8E4M3FN(), 448.0f, true},
                             {Kind::F8E5M2, 8, APFloat::Float8E5M2(), 57344.0f, true}};

/// The expected rounding: LLVM's conversion, except where the format saturates.
float expected(const FormatCase &format, double value, APFloat::roundingMode mode) {
  APFloat number(value);
  bool lost;
  number.convert(format.semantics, mode, &lost);
  float result = number.convertToFloat();
  if (format.saturates && !std::isnan(value) && !(std::fabs(result) <= format.maximum))
    return std::copysign(format.maximum, float(value));
  return result;
}

::testing::AssertionResult same(float actual, float expected) {
  if ((std::isnan(actual) && std::isnan(expected)) ||
      std::bit_cast<uint32_t>(actual) == std::bit_cast<uint32_t>(expected))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << actual << " instead of " << expected;
}

TEST(NumberFormats, DecodesEveryBitPattern) {
  for (const FormatCase &format : kCases)
    for (uint32_t bits = 0; bits < (1u << format.bits); ++bits) {
      float expected = APFloat(format.semantics, APInt(format.bits, bits)).convertToFloat();
      ASSERT_TRUE(same(decode(format.kind, bits), expected)) << int(format.kind) << " bits " << bits;
    }
}

TEST(NumberFormats, EncodeUndoesDecode) {
  for (const FormatCase &format : kCases)
    for (uint32_t bits = 0; bits < (1u << format.bits); ++bits) {
      float value = decode(format.kind, bits);
      if (!std::isnan(value))
        ASSERT_EQ(encode(format.kind, value), bits) << int(format.kind);
      else
        ASSERT_TRUE(std::isnan(decode(format.kind, encode(format.kind, value)))) << int(format.kind);
    }
}

/// Floats near every value of the format: the value, the midpoint to the next one, and the floats next to both.
template <typename Check> void forInterestingFloats(const FormatCase &format, Check check) {
  for (uint32_t bits = 0; bits < (1u << format.bits); ++bits) {
    float value = decode(format.kind, bits);
    float next = decode(format.kind, (bits + 1) & ((1u << format.bits) - 1));
    for (float probe : {value, (value + next) / 2, value * 1.3f})
      for (float toward : {-INFINITY, INFINITY, probe})
        check(toward == probe ? probe : std::nextafterf(probe, toward));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i)
    check(std::bit_cast<float>(uint32_t(random())));
}

TEST(NumberFormats, RoundsToNearestEven) {
  for (const FormatCase &format : kCases)
    forInterestingFloats(format, [&](float value) {
      float wanted = expected(format, value, APFloat::rmNearestTiesToEven);
      ASSERT_TRUE(same(roundTo(format.kind, value), wanted)) << int(format.kind) << " of " << value;
    });
}

TEST(NumberFormats, TruncatesTowardZero) {
  for (const FormatCase &format : kCases)
    forInterestingFloats(format, [&](float value) {
      float wanted = expected(format, value, APFloat::rmTowardZero);
      ASSERT_TRUE(same(truncateTo(format.kind, value), wanted)) << int(format.kind) << " of " << value;
    });
}

TEST(NumberFormats, RoundToOddKeepsTheSecondRoundingRight) {
  std::mt19937_64 random(2);
  for (const FormatCase &format : kCases)
    for (int i = 0; i < 100000; ++i) {
      // A midpoint between two values of the format, moved by much less than a float can represent.
      double middle = decode(format.kind, uint32_t(random() & 0xff)) * 1.0625;
      for (double value : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)})
        ASSERT_TRUE(same(roundTo(format.kind, narrow(value, /*odd=*/true)),
                         expected(format, value, APFloat::rmNearestTiesToEven)))
            << int(format.kind) << " of " << value;
    }
}

TEST(NumberFormats, NarrowsTowardZero) {
  EXPECT_EQ(narrow(1.0 + 0x1p-24, false), 1.0f);
  EXPECT_EQ(narrow(-1.0 - 0x1.8p-24, false), -1.0f);
  EXPECT_EQ(narrow(1e300, false), 0x1.fffffep127f);
  EXPECT_EQ(narrow(INFINITY, false), INFINITY);
}

TEST(NumberFormats, Tf32Truncates) {
  EXPECT_EQ(truncateToTf32(1.0f + 0x1p-10f), 1.0f + 0x1p-10f);
  EXPECT_EQ(truncateToTf32(1.0f + 0x1.fp-11f), 1.0f);
  EXPECT_EQ(truncateToTf32(-1.0f - 0x1.fp-11f), -1.0f);
  EXPECT_EQ(truncateToTf32(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(truncateToTf32(NAN)));
  EXPECT_TRUE(std::isnan(truncateToTf32(std::bit_cast<float>(0x7f800001u))));
}

} // namespace
} // namespace tile::interp::test
