// Arithmetic on f16 and bf16: exact, or rounded to odd, in double, then rounded once.
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
template <typename T> inline T mulHalf(T a, T b) {
  return narrow<T>(double(toFloat(a)) * double(toFloat(b)));
}
template <typename T> inline T fmaHalf(T a, T b, T c) {
  return narrow<T>(addToOdd(double(toFloat(a)) * double(toFloat(b)), toFloat(c)));
}

template <typename T> inline bool isNan(T value) {
  return (value.bits & 0x7fff) > (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80);
}
template <typename T> inline bool isInfinite(T value) {
  return (value.bits & 0x7fff) == (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80);
}
template <typename T> inline T canonicalHalf(T value) {
  return isNan(value) ? T{0x7fff} : value;
}
/// .ftz: subnormal → zero of the same sign.
template <typename T> inline T flushHalf(T value) {
  return {uint16_t((value.bits & (std::is_same_v<T, Half> ? 0x7c00 : 0x7f80)) ? value.bits : value.bits & 0x8000)};
}
/// Order of the bits as signed integers: -0 < +0.
template <typename T> inline int orderKey(T value) {
  return value.bits & 0x8000 ? -int(value.bits & 0x7fff) - 1 : int(value.bits);
}

} // namespace tile::sim::numerics
