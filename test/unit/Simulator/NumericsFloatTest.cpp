// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests arithmetic on floats and doubles against that of the host, in its four rounding modes.
#include "Simulator/Numerics/Approximate.h"
#include "Simulator/Numerics/Convert.h"
#include "Simulator/Numerics/Float32.h"
#include "Simulator/Numerics/Float64.h"
#include "Simulator/Numerics/MinMax.h"

#include <cfenv>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace tile::sim::numerics {
namespace {

/// Runs `function` in a rounding mode of the host; its operands must be volatile. Not inlined, so that the code under
/// test is not computed in that mode.
template <typename Function> [[gnu::noinline]] auto inMode(int mode, Function &&function) {
  std::fesetround(mode);
  volatile auto result = function(); // prevents moving the call below the next line
  std::fesetround(FE_TONEAREST);
  return result;
}

template <Rounding rounding>
constexpr int hostMode = rounding == Rounding::Zero   ? FE_TOWARDZERO
                         : rounding == Rounding::Down ? FE_DOWNWARD
                         : rounding == Rounding::Up   ? FE_UPWARD
                                                      : FE_TONEAREST;

template <typename T> std::vector<T> edgeValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T value : {T(0),
                  Limits::denorm_min(),
                  T(3) * Limits::denorm_min(),
                  Limits::min() - Limits::denorm_min(),
                  Limits::min(),
                  Limits::min() * (1 + Limits::epsilon()),
                  Limits::epsilon() / 2,
                  Limits::epsilon(),
                  T(0.1),
                  T(0.5),
                  T(1) - Limits::epsilon() / 2,
                  T(1),
                  T(1) + Limits::epsilon(),
                  T(1.5),
                  T(3),
                  T(7),
                  std::sqrt(Limits::max()),
                  Limits::max() / 2,
                  Limits::max(),
                  Limits::infinity()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  values.push_back(Limits::quiet_NaN());
  return values;
}

/// Returns arbitrary bit patterns, and values with similar exponents, so that sums cancel and round.
template <typename T> T randomValue(std::mt19937_64 &random) {
  using Integer = IntegerOf<T>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  Integer bits = Integer(random());
  switch (random() % 4) {
  case 0:
    break;
  case 1: // few bits: exact results and ties
    bits &= Integer(~Integer(0)) << (mantissa - 4);
    [[fallthrough]];
  default: {
    Integer bias = BitsOf<T>::infinity >> (mantissa + 1);
    Integer exponent = bias - 15 + Integer(random() % 31);
    bits = (bits & (signBit<T> | ((Integer(1) << mantissa) - 1))) | exponent << mantissa;
  }
  }
  return fromBits<T>(bits);
}

template <typename T> void expectSame(T expected, T actual, const char *operation, T a, T b, T c) {
  // Floats have a single NaN; doubles have many (see withNan).
  bool isNan = sizeof(T) == 4 ? bitsOf(actual) == BitsOf<T>::nan : std::isnan(actual);
  bool same = std::isnan(expected) ? isNan : bitsOf(expected) == bitsOf(actual);
  EXPECT_TRUE(same) << operation << std::hexfloat << " of " << a << ", " << b << ", " << c << ": expected " << expected
                    << ", got " << actual;
}

template <typename T, Rounding rounding> void checkAll(T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  constexpr int mode = hostMode<rounding>;
  expectSame<T>(inMode(mode, [&] { return T(x + y); }), addRounded<rounding>(a, b), "add", a, b, c);
  expectSame<T>(inMode(mode, [&] { return T(x - y); }), subRounded<rounding>(a, b), "sub", a, b, c);
  expectSame<T>(inMode(mode, [&] { return T(x * y); }), mulRounded<rounding>(a, b), "mul", a, b, c);
  expectSame<T>(inMode(mode, [&] { return T(x / y); }), divRounded<rounding>(a, b), "div", a, b, c);
  expectSame<T>(inMode(mode, [&] { return std::fma(T(x), T(y), T(z)); }), fmaRounded<rounding>(a, b, c), "fma", a, b,
                c);
  expectSame<T>(inMode(mode, [&] { return std::sqrt(T(x)); }), sqrtRounded<rounding>(a), "sqrt", a, b, c);
}

template <typename T> void checkModes(T a, T b, T c) {
  checkAll<T, Rounding::NearestEven>(a, b, c);
  checkAll<T, Rounding::Zero>(a, b, c);
  checkAll<T, Rounding::Down>(a, b, c);
  checkAll<T, Rounding::Up>(a, b, c);
}

template <typename T> void checkEdgesAndRandom(int count) {
  std::vector<T> edges = edgeValues<T>();
  std::mt19937_64 random(1);
  for (T a : edges)
    for (T b : edges) {
      checkModes<T>(a, b, edges[random() % edges.size()]);
      checkModes<T>(a, b, -a * b);
    }
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    T a = randomValue<T>(random), b = randomValue<T>(random), c = randomValue<T>(random);
    checkModes<T>(a, b, c);
    checkModes<T>(a, b, T(-(a * b))); // the result is the rounding error of the product
  }
}

TEST(NumericsFloat, roundsAsTheHostDoes) {
  checkEdgesAndRandom<float>(50000);
}
TEST(NumericsFloat, roundsDoublesAsTheHostDoes) {
  checkEdgesAndRandom<double>(20000);
}

template <Rounding rounding> void checkNarrowing(double value) {
  volatile double x = value;
  float expected = inMode(hostMode<rounding>, [&] { return float(x); });
  EXPECT_EQ(bitsOf(expected), bitsOf(roundToFloat<rounding>(value))) << std::hexfloat << value;
}

TEST(NumericsFloat, doublesPassNansOn) {
  auto nan = [](uint64_t payload) { return std::bit_cast<double>(uint64_t(0x7ff) << 52 | payload); };
  auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  uint64_t quiet = uint64_t(0x7ff8) << 48;
  EXPECT_EQ(bits(addRounded<Rounding::NearestEven>(nan(1), nan(2))), quiet | 2);
  EXPECT_EQ(bits(divRounded<Rounding::NearestEven>(nan(1), nan(2))), quiet | 1);
  EXPECT_EQ(bits(fmaRounded<Rounding::Zero>(nan(1), 2.0, nan(3))), quiet | 3);
  EXPECT_EQ(bits(subRounded<Rounding::NearestEven>(HUGE_VAL, HUGE_VAL)), uint64_t(0xfff8) << 48);
  EXPECT_EQ(bits(minMax<double, true, NanRule::PassOver, false>(nan(1), nan(2))), quiet | 2);
  EXPECT_EQ(bits(negative(nan(1))), quiet | 1);
}

TEST(NumericsFloat, flushesWhatIsTinyWithAnyExponent) {
  // (1 - 2^-24) · 2^-126 is halfway to 2^-126.
  float a = 0x1.fffffep-1f, b = 0x1p-126f;
  EXPECT_EQ((mulRounded<Rounding::NearestEven, false>(a, b)), b);
  EXPECT_EQ(bitsOf(mulRounded<Rounding::NearestEven, true>(-a, b)), 0x80000000u);
  EXPECT_EQ((fmaRounded<Rounding::Up, true>(a, b, 0.0f)), 0.0f);
  EXPECT_EQ((divRounded<Rounding::NearestEven, true>(0x1.fffffep-2f, 0x1p125f)), 0.0f);
  // 2^-126 - 2^-252 rounds to 2^-126, whatever the range of exponents.
  EXPECT_EQ((fmaRounded<Rounding::NearestEven, true>(0x1.000002p-126f, -0x1.000002p-126f, b)), b);
  EXPECT_EQ((fmaRounded<Rounding::Zero, true>(0x1.000002p-126f, -0x1.000002p-126f, b)), 0.0f);
  EXPECT_EQ((mulHalf<Half, true>(Half{0x3bff}, Half{0x0400}).bits), 0);
  EXPECT_EQ((mulHalf<Half, false>(Half{0x3bff}, Half{0x0400}).bits), 0x0400);
}

TEST(NumericsFloat, narrowsDoublesInAllModes) {
  std::mt19937_64 random(2);
  std::vector<double> values = {0.0,       -0.0,      0x1p-149,        0x1p-150,       0x1.8p-150,
                                -0x1p-151, 0x1p-1074, 0x1.fffffefp127, 0x1.ffffffp127, 0x1p128,
                                1e300,     -1e300,    HUGE_VAL,        -HUGE_VAL,      1 + 0x1p-24};
  for (int i = 0; i < 50000; ++i) {
    int exponent = int(random() % 300) - 160;
    values.push_back(std::ldexp(double(int64_t(random())), exponent - 63));
    values.push_back(std::ldexp(double(random() & 0xffffff) + 0.5, exponent - 24)); // ties
  }
  for (double value : values) {
    checkNarrowing<Rounding::NearestEven>(value);
    checkNarrowing<Rounding::Zero>(value);
    checkNarrowing<Rounding::Down>(value);
    checkNarrowing<Rounding::Up>(value);
  }
}

template <Rounding rounding, typename I> void checkIntegerToFloat(I value) {
  volatile I x = value;
  auto expectedFloat = inMode(hostMode<rounding>, [&] { return float(x); });
  auto expectedDouble = inMode(hostMode<rounding>, [&] { return double(x); });
  EXPECT_EQ(expectedFloat, roundToFloat<rounding>(toDoubleOdd(value))) << value;
  uint64_t magnitude = value < 0 ? -uint64_t(value) : uint64_t(value);
  EXPECT_EQ(expectedDouble, magnitudeToDouble(magnitude, value < 0, rounding)) << value;
}

TEST(NumericsFloat, convertsIntegersInAllModes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    uint64_t value = random() >> random() % 64;
    if (i % 3 == 0)
      value &= ~uint64_t(0) << random() % 64;
    int64_t negative = int64_t(random()) >> random() % 64;
    checkIntegerToFloat<Rounding::NearestEven>(negative);
    checkIntegerToFloat<Rounding::Zero>(negative);
    checkIntegerToFloat<Rounding::Down>(negative);
    checkIntegerToFloat<Rounding::Up>(negative);
    // The host's conversion of unsigned 64-bit integers is correct only for rounding to nearest.
    checkIntegerToFloat<Rounding::NearestEven>(value);
  }
}

template <typename I, Rounding rounding> void checkToInteger(double value) {
  volatile double x = value;
  long double rounded = inMode(hostMode<rounding>, [&] { return (long double)(std::rint(double(x))); });
  using Limits = std::numeric_limits<I>;
  I expected = std::isnan(value) ? 0
               : rounded<(long double)(Limits::min()) ? Limits::min() : rounded>(long double)(Limits::max())
                   ? Limits::max()
                   : I(rounded);
  EXPECT_EQ(expected, toInteger<I>(roundToIntegral<rounding>(value))) << std::hexfloat << value;
}

template <typename I> void checkToIntegerInAllModes(double value) {
  checkToInteger<I, Rounding::NearestEven>(value);
  checkToInteger<I, Rounding::Zero>(value);
  checkToInteger<I, Rounding::Down>(value);
  checkToInteger<I, Rounding::Up>(value);
}

TEST(NumericsFloat, convertsToIntegersInAllModes) {
  std::mt19937_64 random(4);
  std::vector<double> values = {0.0,
                                -0.0,
                                0.5,
                                -0.5,
                                1.5,
                                2.5,
                                -2.5,
                                0.49999999999999994,
                                0x1p31,
                                0x1p32,
                                0x1p63,
                                -0x1p63,
                                0x1p64,
                                0x1p65,
                                0x1.fffffffffffffp62,
                                0x1p52,
                                0x1p52 + 1,
                                0x1.0000000000001p51,
                                HUGE_VAL,
                                -HUGE_VAL,
                                std::nan(""),
                                127.5,
                                128,
                                -128.5,
                                255.5,
                                -0x1p-1074};
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::ldexp(double(int64_t(random())), int(random() % 80) - 75));
  for (double value : values) {
    checkToIntegerInAllModes<int8_t>(value);
    checkToIntegerInAllModes<uint8_t>(value);
    checkToIntegerInAllModes<int16_t>(value);
    checkToIntegerInAllModes<uint16_t>(value);
    checkToIntegerInAllModes<int32_t>(value);
    checkToIntegerInAllModes<uint32_t>(value);
    checkToIntegerInAllModes<int64_t>(value);
    checkToIntegerInAllModes<uint64_t>(value);
  }
}

TEST(NumericsFloat, takesTheSmallerAndTheLarger) {
  constexpr auto plainMin = &minMax<float, false, NanRule::PassOver, false>;
  constexpr auto plainMax = &minMax<float, true, NanRule::PassOver, false>;
  constexpr auto nanMax = &minMax<float, true, NanRule::Propagate, false>;
  constexpr auto signMin = &minMax<float, false, NanRule::PassOver, true>;
  float nan = std::nanf("");
  for (float a : edgeValues<float>())
    for (float b : edgeValues<float>()) {
      if (std::isnan(a) || std::isnan(b))
        continue;
      if (a != b) {
        EXPECT_EQ(plainMin(a, b), std::fmin(a, b));
        EXPECT_EQ(plainMax(a, b), std::fmax(a, b));
      }
      float smaller = std::fmin(std::fabs(a), std::fabs(b));
      EXPECT_EQ(bitsOf(signMin(a, b)), bitsOf(std::signbit(a) != std::signbit(b) ? -smaller : smaller));
    }
  EXPECT_TRUE(std::signbit(plainMin(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(plainMax(-0.0f, 0.0f)));
  EXPECT_EQ(plainMin(nan, 2.0f), 2.0f);
  EXPECT_EQ(bitsOf(plainMax(nan, nan)), 0x7fffffffu);
  EXPECT_EQ(bitsOf(nanMax(nan, 2.0f)), 0x7fffffffu);
  EXPECT_EQ(bitsOf(minMax<Half, true, NanRule::PassOver, false>(Half{0xbc00}, Half{0x8000})), 0x8000);
}

TEST(NumericsFloat, flushesAndSaturates) {
  EXPECT_EQ(bitsOf(flushSubnormal(-0x1p-127f)), 0x80000000u);
  EXPECT_EQ(flushSubnormal(0x1p-126f), 0x1p-126f);
  EXPECT_EQ(bitsOf(saturate(std::nanf(""))), 0u);
  EXPECT_EQ(bitsOf(saturate(-0.0f)), 0u);
  EXPECT_EQ(saturate(1.5f), 1.0f);
  EXPECT_EQ(saturate(0.25), 0.25);
  EXPECT_EQ(bitsOf(clampNegative(-1.0f)), 0u);
}

/// Returns the largest error of `function` against `exact` on `count` values in [low, high], relative or absolute.
template <typename Function, typename Exact>
double largestError(Function &&function, Exact &&exact, double low, double high, bool isRelative) {
  double largest = 0;
  for (int i = 0; i <= 100000; ++i) {
    float x = float(low + (high - low) * i / 100000);
    double expected = exact(double(x)), error = std::fabs(function(x) - expected);
    largest = std::fmax(largest, isRelative && expected != 0 ? error / std::fabs(expected) : error);
  }
  return largest;
}

TEST(NumericsFloat, approximatesWithinDocumentedErrors) {
  EXPECT_LT(largestError(exp2Approximate, [](double x) { return std::exp2(x); }, -126, 127, true), 0x1p-22);
  EXPECT_LT(largestError(log2Approximate, [](double x) { return std::log2(x); }, 0x1p-126, 0x1p-120, true), 0x1p-22);
  EXPECT_LT(largestError(log2Approximate, [](double x) { return std::log2(x); }, 0.5, 2, false), 0x1p-22);
  EXPECT_LT(largestError(log2Approximate, [](double x) { return std::log2(x); }, 2, 1e30, true), 0x1p-22);
  EXPECT_LT(
      largestError(rsqrtApproximate, [](double x) { return 1 / std::sqrt(x); }, 1e-30, 4, true), std::exp2(-22.9));
  EXPECT_LT(largestError(sinApproximate, [](double x) { return std::sin(x); }, -6.28, 6.28, false), std::exp2(-20.5));
  EXPECT_LT(largestError(cosApproximate, [](double x) { return std::cos(x); }, -6.28, 6.28, false), std::exp2(-20.5));
  EXPECT_LT(largestError(tanhApproximate, [](double x) { return std::tanh(x); }, -20, 20, true), 0x1p-11);
}

TEST(NumericsFloat, approximatesSpecialValues) {
  float infinity = HUGE_VALF, nan = std::nanf("");
  EXPECT_EQ(exp2Approximate(-infinity), 0);
  EXPECT_EQ(exp2Approximate(infinity), infinity);
  EXPECT_EQ(exp2Approximate(-0.0f), 1);
  EXPECT_EQ(exp2Approximate(-149), 0x1p-149f);
  EXPECT_EQ(exp2Approximate(3), 8);
  EXPECT_EQ(bitsOf(exp2Approximate(nan)), 0x7fffffffu);
  EXPECT_EQ(log2Approximate(-0.0f), -infinity);
  EXPECT_EQ(log2Approximate(infinity), infinity);
  EXPECT_EQ(log2Approximate(0x1p-149f), -149);
  EXPECT_EQ(bitsOf(log2Approximate(-1)), 0x7fffffffu);
  EXPECT_EQ(rsqrtApproximate(-0.0f), -infinity);
  EXPECT_EQ(bitsOf(rsqrtApproximate(-1)), 0x7fffffffu);
  EXPECT_EQ(bitsOf(sinApproximate(infinity)), 0x7fffffffu);
  EXPECT_EQ(bitsOf(sinApproximate(-0.0f)), 0x80000000u);
  EXPECT_EQ(tanhApproximate(-infinity), -1);
  EXPECT_EQ(divApproximate<false>(1, 0x1.8p126f), 0);
  EXPECT_EQ(bitsOf(divApproximate<false>(infinity, 0x1.8p126f)), 0x7fffffffu);
  EXPECT_EQ(divApproximate<false>(1, 0x1p126f), 0x1p-126f);
  EXPECT_EQ(rcpUpperHalf(4), 0.25);
}

} // namespace
} // namespace tile::sim::numerics
