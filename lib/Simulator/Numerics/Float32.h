// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on floats in every rounding mode, by way of double. PTX ISA 9.7.3.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

/// Rounds `value`, which is exact or rounded to odd, to the result of an instruction with (`flush`) or without .ftz.
template <Rounding rounding, bool flush = false> inline float finish(double value) {
  float result = canonical(roundToFloat<rounding>(value));
  return flush ? flushTiny<rounding>(result, value) : result;
}

/// Returns x + y, rounded once to float. The doubles x and y hold floats or products of floats.
template <Rounding rounding, bool flush> inline float sumToFloat(double x, double y) {
  double sum = addToOdd(x, y);
  if constexpr (rounding == Rounding::Down) // x + -x is -0 in this rounding mode and +0 in the others
    sum = sum == 0 && std::signbit(x) != std::signbit(y) ? -0.0 : sum;
  return finish<rounding, flush>(sum);
}

// A tiny sum of two floats is exact, so addition needs no `flush`.
template <Rounding rounding> inline float addRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(a + b);
  return sumToFloat<rounding, false>(a, b);
}
template <Rounding rounding> inline float subRounded(float a, float b) {
  return addRounded<rounding>(a, -b);
}
template <Rounding rounding, bool flush = false> inline float mulRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven && !flush)
    return canonical(a * b);
  return finish<rounding, flush>(double(a) * double(b));
}
template <Rounding rounding, bool flush = false> inline float fmaRounded(float a, float b, float c) {
  return sumToFloat<rounding, flush>(double(a) * double(b), c);
}

// Here rounding twice, first to double and then to float, gives the correct result: a quotient or root of floats that
// is neither a float nor midway between two floats differs from the nearest of these by at least 2^-50 of its
// magnitude, which is more than a double's rounding error.
template <Rounding rounding, bool flush = false> inline float divRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven && !flush)
    return canonical(a / b);
  return finish<rounding, flush>(double(a) / double(b));
}
template <Rounding rounding, bool flush = false> inline float rcpRounded(float a) {
  return divRounded<rounding, flush>(1.0f, a);
}
template <Rounding rounding> inline float sqrtRounded(float a) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(std::sqrt(a));
  return finish<rounding>(std::sqrt(double(a)));
}

} // namespace tile::sim::numerics
