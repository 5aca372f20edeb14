// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic and operations on bits against 128-bit integers and bit-by-bit definitions.
#include "Simulator/Numerics/Bits.h"

#include <gtest/gtest.h>
#include <random>

namespace tile::sim::numerics {
namespace {

template <typename T> T randomInteger(std::mt19937_64 &random) {
  switch (random() % 6) {
  case 0:
    return std::numeric_limits<T>::max();
  case 1:
    return std::numeric_limits<T>::min();
  case 2:
    return T(random() % 5) - T(2);
  default:
    return T(T(random()) >> random() % bitsIn<T>);
  }
}

template <typename T> void checkArithmetic() {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    T a = randomInteger<T>(random), b = randomInteger<T>(random), c = randomInteger<T>(random);
    using Big = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    Big x = a, y = b, z = c;
    EXPECT_EQ(wrappingAdd(a, b), T(x + y));
    EXPECT_EQ(wrappingSub(a, b), T(x - y));
    EXPECT_EQ(mulLow(a, b), T(x * y));
    EXPECT_EQ(mulHigh(a, b), T((x * y) >> bitsIn<T>));
    EXPECT_EQ(madLow(a, b, c), T(x * y + z));
    EXPECT_EQ(madHigh(a, b, c), T(((x * y) >> bitsIn<T>)+z));
    if (b != 0) {
      EXPECT_EQ(divide(a, b), T(x / y));
      EXPECT_EQ(numerics::remainder(a, b), T(x % y));
    }
    EXPECT_EQ(minimum(a, b), x < y ? a : b);
    EXPECT_EQ(maximum(a, b), x > y ? a : b);
    EXPECT_EQ(sumOfDifference(a, b, c), T(z + (x < y ? y - x : x - y)));
    EXPECT_EQ(absoluteValue(a), T(x < 0 ? -x : x));
    uint32_t shift = uint32_t(random() % 80);
    EXPECT_EQ(shiftLeft(a, shift), shift >= bitsIn<T> ? T(0) : T(x << shift));
    EXPECT_EQ(shiftRight(a, shift), T(x >> shift)); // x has the sign in all its 128 bits
  }
  EXPECT_EQ(divide<T>(5, 0), T(~T(0)));
  EXPECT_EQ(numerics::remainder<T>(5, 0), T(~T(0)));
}

TEST(NumericsInteger, arithmetic) {
  checkArithmetic<int16_t>();
  checkArithmetic<uint16_t>();
  checkArithmetic<int32_t>();
  checkArithmetic<uint32_t>();
  checkArithmetic<int64_t>();
  checkArithmetic<uint64_t>();
}

TEST(NumericsInteger, saturates) {
  EXPECT_EQ(addSaturating<int32_t>(0x7fffffff, 1), 0x7fffffff);
  EXPECT_EQ(subSaturating<int32_t>(-0x7fffffff, 5), INT32_MIN);
  EXPECT_EQ(addSaturating<int32_t>(-3, 5), 2);
  EXPECT_EQ(madHighSaturating<int32_t>(INT32_MIN, INT32_MIN, INT32_MAX), INT32_MAX);
}

TEST(NumericsInteger, multiplies24Bits) {
  EXPECT_EQ(mul24Low<uint32_t>(0xff000003, 0xff000005), 15u);
  EXPECT_EQ(mul24High<uint32_t>(0xffffff, 0xffffff), uint32_t((uint64_t(0xffffff) * 0xffffff) >> 16));
  EXPECT_EQ(mul24Low<int32_t>(0xffffff, 5), -5);
  EXPECT_EQ(mul24High<int32_t>(0x800000, 0x7fffff), int32_t((int64_t(-0x800000) * 0x7fffff) >> 16));
}

TEST(NumericsInteger, dotProducts) {
  EXPECT_EQ((dotBytes<int8_t, int8_t>(0x80ff0102, 0x7f020304, 10)), uint32_t(-128 * 127 - 1 * 2 + 3 + 8 + 10));
  EXPECT_EQ((dotBytes<uint8_t, int8_t>(0x80ff0102, 0x7f02fd04, 0)), uint32_t(128 * 127 + 255 * 2 - 3 + 8));
  EXPECT_EQ((dotHalves<int16_t, uint8_t, true>(0xffff0002, 0x05030000, 1)), uint32_t(-1 * 5 + 2 * 3 + 1));
  EXPECT_EQ((dotHalves<uint16_t, uint8_t, false>(0xffff0002, 0x0503, 1)), uint32_t(0xffff * 5 + 2 * 3 + 1));
}

template <typename T> T fieldBitByBit(T a, uint32_t position, uint32_t length) {
  // PTX ISA 9.7.1.19.
  using Unsigned = std::make_unsigned_t<T>;
  int msb = bitsIn<T> - 1;
  bool sign = false;
  if (std::is_signed_v<T> && length != 0)
    sign = Unsigned(a) >> std::min<int64_t>(int64_t(position) + length - 1, msb) & 1;
  Unsigned result = 0;
  for (int bit = 0; bit <= msb; ++bit) {
    bool set = bit < int(length) && int(position) + bit <= msb ? Unsigned(a) >> (position + bit) & 1 : sign;
    result |= Unsigned(set) << bit;
  }
  return T(result);
}
template <typename T> T insertBitByBit(T a, T b, uint32_t position, uint32_t length) {
  for (uint32_t bit = 0; bit < length && position + bit < bitsIn<T>; ++bit) {
    T mask = T(1) << (position + bit);
    b = T((b & ~mask) | (a >> bit & 1 ? mask : T(0)));
  }
  return b;
}

template <typename T> void checkFields() {
  using Unsigned = std::make_unsigned_t<T>;
  std::mt19937_64 random(8);
  for (int i = 0; i < 20000; ++i) {
    T a = randomInteger<T>(random), b = randomInteger<T>(random);
    uint32_t position = uint32_t(random() % 70), length = uint32_t(random() % 70);
    EXPECT_EQ(extractField(a, position, length), fieldBitByBit(a, position, length)) << position << " " << length;
    EXPECT_EQ(insertField(Unsigned(a), Unsigned(b), position, length),
              insertBitByBit(Unsigned(a), Unsigned(b), position, length));
    Unsigned reversed = reverseBits(Unsigned(a));
    for (unsigned bit = 0; bit < bitsIn<T>; ++bit)
      EXPECT_EQ(reversed >> bit & 1, Unsigned(a) >> (bitsIn<T> - 1 - bit) & 1);
  }
}

TEST(NumericsInteger, fieldsOfBits) {
  checkFields<int32_t>();
  checkFields<uint32_t>();
  checkFields<int64_t>();
  checkFields<uint64_t>();
}

TEST(NumericsInteger, findsBits) {
  EXPECT_EQ((findBit<uint32_t, false>(0x00010001)), 16u);
  EXPECT_EQ((findBit<uint32_t, true>(0x00010001)), 15u);
  EXPECT_EQ((findBit<int32_t, false>(-1)), ~0u);
  EXPECT_EQ((findBit<int32_t, false>(-3)), 1u);
  EXPECT_EQ((findBit<int64_t, false>(int64_t(-1) << 40)), 39u);
  EXPECT_EQ(findNthSet(0b10110, 0, 2), 2u);
  EXPECT_EQ(findNthSet(0b10110, 4, -2), 2u);
  EXPECT_EQ(findNthSet(0b10110, 1, 0), 1u);
  EXPECT_EQ(findNthSet(0b10110, 3, 0), ~0u);
  EXPECT_EQ(findNthSet(0b10110, 3, 5), ~0u);
  EXPECT_EQ(findNthSet(~0u, 31, INT32_MIN), ~0u);
}

TEST(NumericsInteger, masksAndExtends) {
  EXPECT_EQ((maskOfBits<true>(4, 8)), 0xff0u);
  EXPECT_EQ((maskOfBits<true>(4, 40)), 0xfffffff0u);
  EXPECT_EQ((maskOfBits<true>(40, 4)), 0u);
  EXPECT_EQ((maskOfBits<false>(36, 4)), 0xf0u);
  EXPECT_EQ((extendBits<int32_t, true>(0x80, 8)), -128);
  EXPECT_EQ((extendBits<uint32_t, true>(0x180, 8)), 0x80u);
  EXPECT_EQ((extendBits<int32_t, true>(-5, 99)), -5);
  EXPECT_EQ((extendBits<int32_t, false>(0x1f, 33)), -1);
}

TEST(NumericsInteger, shiftsFunnels) {
  EXPECT_EQ((funnelShift<true, true>(0x89abcdef, 0x01234567, 8)), 0x23456789u);
  EXPECT_EQ((funnelShift<true, true>(0x89abcdef, 0x01234567, 40)), 0x89abcdefu);
  EXPECT_EQ((funnelShift<true, false>(0x89abcdef, 0x01234567, 40)), 0x23456789u);
  EXPECT_EQ((funnelShift<false, true>(0x89abcdef, 0x01234567, 8)), 0x6789abcdu);
  EXPECT_EQ((funnelShift<false, true>(0x89abcdef, 0x01234567, 32)), 0x01234567u);
}

TEST(NumericsInteger, permutesBytes) {
  uint32_t a = 0x33221100, b = 0x77665544;
  EXPECT_EQ(permuteBytes<Permute::Select>(a, b, 0x7531), 0x77553311u);
  EXPECT_EQ(permuteBytes<Permute::Select>(a, 0xf7665544, 0xf000), 0xff000000u);
  // The tables of PTX ISA 9.7.9.7.
  EXPECT_EQ(permuteBytes<Permute::Forward4>(a, b, 2), 0x55443322u);
  EXPECT_EQ(permuteBytes<Permute::Backward4>(a, b, 1), 0x66770011u);
  EXPECT_EQ(permuteBytes<Permute::Replicate8>(a, b, 3), 0x33333333u);
  EXPECT_EQ(permuteBytes<Permute::EdgeLeft>(a, b, 2), 0x33222222u);
  EXPECT_EQ(permuteBytes<Permute::EdgeRight>(a, b, 1), 0x11111100u);
  EXPECT_EQ(permuteBytes<Permute::Replicate16>(a, b, 1), 0x33223322u);
}

} // namespace
} // namespace tile::sim::numerics
