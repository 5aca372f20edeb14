// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on f16 and bf16: computed in double, exactly or rounded to odd, and then rounded once.
//
// T is Half or BFloat16. PTX ISA 9.7.4.
#pragma once

#include "Simulator/Numerics/Formats.h"

namespace tile::sim::numerics {

template <typename T> inline T addHalf(T a, T b) {
  return narrow<T>(addToOdd(toFloat(a), toFloat(b)));
}
template <typename T> inline T subHalf(T a, T b) {
  return narrow<T>(addToOdd(toFloat(a), -toFloat(b)));
}
/// Rounds a double to f16 or bf16. The test for .ftz, which only f16 has, uses the value rounded with an unlimited
/// exponent: see flushTiny.
template <typename T, bool flush> inline T finishHalf(double value) {
  if constexpr (flush) {
    bool isTiny = std::fabs(toFloat(narrow<T>(value * 0x1p10))) < 0x1p-4f;
    value = isTiny ? std::copysign(0.0, value) : value;
  }
  return narrow<T>(value);
}
template <typename T, bool flush = false> inline T mulHalf(T a, T b) {
  return finishHalf<T, flush>(double(toFloat(a)) * double(toFloat(b)));
}
template <typename T, bool flush = false> inline T fmaHalf(T a, T b, T c) {
  return finishHalf<T, flush>(addToOdd(double(toFloat(a)) * double(toFloat(b)), toFloat(c)));
}

template <typename T> inline bool isNan(T value) {
  return (value.bits & 0x7fff) > (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80);
}
template <typename T> inline bool isInfinite(T value) {
  return (value.bits & 0x7fff) == (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80);
}
/// .ftz: replaces a subnormal by zero of the same sign.
template <typename T> inline T flushHalf(T value) {
  return {uint16_t((value.bits & (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80)) ? value.bits : value.bits & 0x8000)};
}

} // namespace tile::sim::numerics
