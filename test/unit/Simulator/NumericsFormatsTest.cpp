// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the small floating-point formats against tables of all their values, derived from the formats' definitions.
#include "Simulator/Numerics/Convert.h"
#include "Simulator/Numerics/Formats.h"
#include "Simulator/Numerics/HalfFloat.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tile::sim::numerics {
namespace {

/// Returns the non-negative finite values of the format, with their bits.
std::map<long double, uint32_t> positiveValues(int exponentBits, int mantissaBits, bool ieee, uint32_t nans) {
  std::map<long double, uint32_t> values;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint32_t end = 1u << (exponentBits + mantissaBits);
  for (uint32_t bits = 0; bits < end - nans; ++bits) {
    int exponent = int(bits >> mantissaBits), mantissa = int(bits & ((1u << mantissaBits) - 1));
    if (ieee && exponent == (1 << exponentBits) - 1)
      break;
    long double value = exponent == 0
                            ? std::ldexp((long double)mantissa, 1 - bias - mantissaBits)
                            : std::ldexp((long double)(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
    values[value] = bits;
  }
  return values;
}

struct Reference {
  std::map<long double, uint32_t> values;
  uint32_t sign, infinity; ///< infinity 0: the format has none

  /// Returns the value's bits by searching for its neighbours.
  uint32_t operator()(long double value, Rounding rounding, bool satFinite) const {
    uint32_t signBits = std::signbit(value) ? sign : 0;
    long double magnitude = std::fabs(value);
    auto above = values.lower_bound(magnitude);
    if (above != values.end() && above->first == magnitude)
      return signBits | above->second;
    bool away = rounding == (signBits ? Rounding::Down : Rounding::Up);
    auto last = std::prev(values.end());
    uint32_t overflow = infinity && !satFinite ? infinity : last->second;
    if (above == values.end()) {
      // A hypothetical next value determines the nearest one.
      long double next = 2 * last->first - std::prev(last)->first;
      bool nearest = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway;
      bool isInfinite = std::isinf(value) || away || (nearest && magnitude >= (last->first + next) / 2);
      return signBits | (isInfinite ? overflow : last->second);
    }
    auto below = std::prev(above);
    long double toBelow = magnitude - below->first, toAbove = above->first - magnitude;
    bool up = away;
    if (rounding == Rounding::NearestEven)
      up = toAbove < toBelow || (toAbove == toBelow && !(above->second & 1));
    if (rounding == Rounding::NearestAway)
      up = toAbove <= toBelow;
    return signBits | (up ? above->second : below->second);
  }
};

template <const Format &format> Reference referenceOf(uint32_t nans) {
  Reference reference{positiveValues(format.exponentBits, format.mantissaBits, format.hasInfinity, nans),
                      1u << (format.exponentBits + format.mantissaBits),
                      format.hasInfinity ? ((1u << format.exponentBits) - 1) << format.mantissaBits : 0};
  return reference;
}

template <const Format &format, Rounding rounding> void checkEncode(const Reference &reference, double value) {
  EXPECT_EQ(reference(value, rounding, false), (encode<format, rounding>(value, false))) << std::hexfloat << value;
  EXPECT_EQ(reference(value, rounding, true), (encode<format, rounding>(value, true))) << std::hexfloat << value;
}

template <const Format &format> void checkFormat(uint32_t nans) {
  Reference reference = referenceOf<format>(nans);
  std::vector<double> values = {0, HUGE_VAL, format.largest * 1.03, format.largest * 2, 1e300, 1e-300};
  std::mt19937_64 random(5);
  // All values, midpoints of neighbours, and their immediate neighbours.
  double previous = 0;
  size_t step = reference.values.size() > 4096 ? 17 : 1;
  size_t index = 0;
  for (auto [value, bits] : reference.values) {
    EXPECT_EQ(decode<format>(bits), double(value));
    EXPECT_EQ(decode<format>(bits | reference.sign), -double(value));
    if (index++ % step == 0 || value > format.largest / 2)
      for (double x : {double(value), (double(value) + previous) / 2})
        for (double y : {x, std::nextafter(x, 0.0), std::nextafter(x, 1e300)})
          values.push_back(y);
    previous = double(value);
  }
  for (int i = 0; i < 5000; ++i)
    values.push_back(std::ldexp(double(random()), int(random() % 64) - 96));
  for (double magnitude : values)
    for (double value : {magnitude, -magnitude}) {
      checkEncode<format, Rounding::NearestEven>(reference, value);
      checkEncode<format, Rounding::NearestAway>(reference, value);
      checkEncode<format, Rounding::Zero>(reference, value);
      checkEncode<format, Rounding::Down>(reference, value);
      checkEncode<format, Rounding::Up>(reference, value);
    }
  EXPECT_EQ(encode<format>(std::nan("")), format.nan);
}

TEST(NumericsFormats, halfIsExact) {
  checkFormat<halfFormat>(0);
}
TEST(NumericsFormats, bfloat16IsExact) {
  checkFormat<bfloat16Format>(0);
}
TEST(NumericsFormats, tf32IsExact) {
  checkFormat<tf32Format>(0);
}
TEST(NumericsFormats, e4m3IsExact) {
  checkFormat<e4m3Format>(1);
}
TEST(NumericsFormats, e5m2IsExact) {
  checkFormat<e5m2Format>(0);
}
TEST(NumericsFormats, e2m3IsExact) {
  checkFormat<e2m3Format>(0);
}
TEST(NumericsFormats, e3m2IsExact) {
  checkFormat<e3m2Format>(0);
}
TEST(NumericsFormats, e2m1IsExact) {
  checkFormat<e2m1Format>(0);
}

TEST(NumericsFormats, widensEveryHalf) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float wide = toFloat(Half{uint16_t(bits)});
    double expected = decode<halfFormat>(bits);
    EXPECT_EQ(std::isnan(expected), std::isnan(wide)) << bits;
    if (!std::isnan(expected)) {
      EXPECT_EQ(std::bit_cast<uint32_t>(float(expected)), std::bit_cast<uint32_t>(wide)) << bits;
      EXPECT_EQ(narrow<Half>(wide).bits, bits);
    }
    if (!std::isnan(toFloat(BFloat16{uint16_t(bits)}))) {
      EXPECT_EQ(narrow<BFloat16>(toFloat(BFloat16{uint16_t(bits)})).bits, bits);
    }
  }
}

/// All arithmetic of halves is a multiple of 2^-48 below 2^34: exact in 128-bit integers.
__int128 fixed(Half value) {
  return __int128(std::ldexp(toFloat(value), 24)) << 24;
}

TEST(NumericsFormats, halfArithmeticIsRoundedOnce) {
  Reference reference = referenceOf<halfFormat>(0);
  auto round = [&](__int128 value) {
    // Exact in long double after all bits that only matter for being nonzero are merged into one.
    __int128 magnitude = value < 0 ? -value : value;
    int drop = 0;
    while (magnitude >> drop > (__int128(1) << 62))
      ++drop;
    __int128 kept = magnitude >> drop;
    kept |= (kept << drop) != magnitude;
    long double result = std::ldexp((long double)kept, drop - 48);
    return Half{uint16_t(reference(value < 0 ? -result : result, Rounding::NearestEven, false))};
  };
  std::mt19937_64 random(6);
  for (int i = 0; i < 200000; ++i) {
    Half a{uint16_t(random())}, b{uint16_t(random())}, c{uint16_t(random())};
    if (i % 2) // every other iteration uses values that are close to each other
      for (Half *x : {&a, &b, &c})
        x->bits = (x->bits & 0x83ff) | uint16_t((12 + random() % 6) << 10);
    if (i % 5 == 0)
      c = Half{uint16_t(mulHalf(a, b).bits ^ 0x8000)};
    if (isNan(a) || isNan(b) || isNan(c) || isInfinite(a) || isInfinite(b) || isInfinite(c))
      continue;
    __int128 x = fixed(a), y = fixed(b), z = fixed(c), product = (x >> 24) * (y >> 24);
    if (x + y != 0) {
      EXPECT_EQ(addHalf(a, b).bits, round(x + y).bits) << a.bits << " " << b.bits;
    }
    if (x != y) {
      EXPECT_EQ(subHalf(a, b).bits, round(x - y).bits) << a.bits << " " << b.bits;
    }
    if (product != 0) {
      EXPECT_EQ(mulHalf(a, b).bits, round(product).bits) << a.bits << " " << b.bits;
    }
    if (product + z != 0) {
      EXPECT_EQ(fmaHalf(a, b, c).bits, round(product + z).bits) << a.bits << " " << b.bits << " " << c.bits;
    }
  }
  EXPECT_EQ(addHalf(Half{0x3c00}, Half{0xbc00}).bits, 0); // 1 - 1
  EXPECT_EQ(fmaHalf(Half{0x7c00}, Half{0}, Half{0}).bits, 0x7fff);
}

TEST(NumericsFormats, bfloat16FmaIsRoundedOnce) {
  // 2^-133 added to 1 + 2^-8, halfway between two values: only the sign of the addend decides.
  BFloat16 a{0x3f81}, b{0x3f80}, tiny{0x0001}, half{0x3b80}; // 1 + 2^-7, 1, 2^-133, 2^-8
  BFloat16 one{0x3f80};
  EXPECT_EQ(fmaHalf(half, b, one).bits, 0x3f80); // a tie goes to even
  EXPECT_EQ(fmaHalf(half, BFloat16{0x3f81}, one).bits, 0x3f81);
  EXPECT_EQ(addHalf(a, tiny).bits, 0x3f81);
  EXPECT_EQ(mulHalf(BFloat16{0x0080}, BFloat16{0x3f00}).bits, 0x0040); // subnormal
}

TEST(NumericsFormats, scalesArePowersOfTwo) {
  EXPECT_EQ(encodeScale(1.0f, false, true), 127u);
  EXPECT_EQ(encodeScale(1.5f, false, true), 127u);
  EXPECT_EQ(encodeScale(1.5f, true, true), 128u);
  EXPECT_EQ(encodeScale(0x1p-127f, true, true), 0u);
  EXPECT_EQ(encodeScale(0x1.8p-127f, true, true), 1u);
  EXPECT_EQ(encodeScale(HUGE_VALF, true, true), 0xfeu);
  EXPECT_EQ(encodeScale(std::nanf(""), true, true), 0xffu);
  for (uint32_t bits = 0; bits < 0xff; ++bits)
    EXPECT_EQ(encodeScale(float(decodeScale(bits)), false, true), bits);
}

} // namespace
} // namespace tile::sim::numerics
