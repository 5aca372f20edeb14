// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on floats with every rounding, by way of double. PTX ISA 9.7.3.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

/// A value that is exact, or rounded to odd, as the result of an instruction with or without .ftz.
template <Rounding rounding, bool flush = false> inline float finish(double value) {
  float result = canonical(roundToFloat<rounding>(value));
  return flush ? flushTiny<rounding>(result, value) : result;
}

/// x + y for doubles that hold floats or products of floats, rounded once to float.
template <Rounding rounding, bool flush> inline float sumToFloat(double x, double y) {
  double sum = addToOdd(x, y);
  if constexpr (rounding == Rounding::Down) // x + -x is -0 here, and +0 with the other roundings
    sum = sum == 0 && std::signbit(x) != std::signbit(y) ? -0.0 : sum;
  return finish<rounding, flush>(sum);
}

// Tiny sums of floats are exact, so they need no `flush`.
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

// A quotient or root of floats that is neither a float nor a midpoint of two is farther from all of these than a
// double's rounding error (by at least 2^-50 of its size), so that it may be rounded twice.
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
