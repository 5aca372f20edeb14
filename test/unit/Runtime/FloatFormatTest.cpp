// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small floating-point formats, exhaustively.
#include "Runtime/FloatFormat.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

struct Case {
  DataType type;
  unsigned bits;
};
constexpr Case cases[] = {{DataType::F16, 16}, {DataType::BF16, 16}, {DataType::F8E4M3, 8}, {DataType::F8E5M2, 8}};

TEST(FloatFormat, everyValueSurvivesTheRoundTrip) {
  for (const Case &c : cases)
    for (uint64_t bits = 0; bits < uint64_t(1) << c.bits; ++bits) {
      const double value = decodeFloat(c.type, bits);
      const uint64_t again = encodeFloat(c.type, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(c.type, again))) << bits;
      else
        EXPECT_EQ(again, bits) << dataTypeName(c.type);
    }
}

/// Tests values below, at, and above the midpoint of every two neighbours.
TEST(FloatFormat, roundsToNearestEven) {
  for (const Case &c : cases)
    for (uint64_t bits = 0; bits + 1 < uint64_t(1) << (c.bits - 1); ++bits) {
      const double low = decodeFloat(c.type, bits), high = decodeFloat(c.type, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        break;
      const double middle = (low + high) / 2;
      EXPECT_EQ(encodeFloat(c.type, middle), bits % 2 == 0 ? bits : bits + 1);
      EXPECT_EQ(encodeFloat(c.type, std::nextafter(middle, low)), bits);
      EXPECT_EQ(encodeFloat(c.type, std::nextafter(middle, high)), bits + 1);
    }
}

TEST(FloatFormat, knownValues) {
  EXPECT_EQ(encodeFloat(DataType::F16, 1.0), 0x3c00u);
  EXPECT_EQ(encodeFloat(DataType::F16, -2.0), 0xc000u);
  EXPECT_EQ(encodeFloat(DataType::F16, 65504.0), 0x7bffu);
  EXPECT_EQ(encodeFloat(DataType::F16, 65519.99), 0x7bffu);
  EXPECT_EQ(encodeFloat(DataType::F16, 65520.0), 0x7c00u); // rounds to infinity
  EXPECT_EQ(encodeFloat(DataType::F16, 5.960464477539063e-08), 1u);
  EXPECT_EQ(encodeFloat(DataType::F16, 1e-300), 0u);
  EXPECT_EQ(encodeFloat(DataType::F16, -0.0), 0x8000u);
  EXPECT_EQ(encodeFloat(DataType::BF16, 3.0), 0x4040u);
  EXPECT_EQ(encodeFloat(DataType::BF16, 1e300), 0x7f80u);
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, 448.0), 0x7eu);
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, 464.0), 0x7eu); // a tie, to even
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, 465.0), 0x7fu); // no infinity: NaN
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, INFINITY), 0x7fu);
  EXPECT_EQ(encodeFloat(DataType::F8E5M2, 57344.0), 0x7bu);
  EXPECT_EQ(encodeFloat(DataType::F8E5M2, 1e9), 0x7cu);
  EXPECT_TRUE(std::isnan(decodeFloat(DataType::F8E4M3, 0xff)));
  EXPECT_EQ(decodeFloat(DataType::F8E4M3, 0x01), std::ldexp(1, -9));
}

/// The compiler's own conversion is an independent reference for every float.
TEST(FloatFormat, agreesWithTheHardwareTypeForF16) {
#ifdef __FLT16_MANT_DIG__
  for (uint64_t i = 0; i < 1000000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(i * 2654435761u);
    const float value = static_cast<float>(decodeFloat(DataType::F32, bits));
    if (std::isnan(value))
      continue;
    const _Float16 expected = static_cast<_Float16>(value);
    EXPECT_EQ(decodeFloat(DataType::F16, encodeFloat(DataType::F16, value)), static_cast<double>(expected)) << value;
  }
#endif
}

} // namespace
