// Arithmetic on floats with every rounding, by way of double. PTX ISA 9.7.3.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

/// x + y of doubles that are floats, or products of floats, rounded once to float.
template <Rounding rounding> inline float sumToFloat(double x, double y) {
  double sum = addToOdd(x, y);
  if constexpr (rounding == Rounding::Down) // x + -x is -0 here, and +0 in the other roundings
    sum = sum == 0 && std::signbit(x) != std::signbit(y) ? -0.0 : sum;
  return canonical(roundToFloat<rounding>(sum));
}

template <Rounding rounding> inline float addRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(a + b);
  return sumToFloat<rounding>(a, b);
}
template <Rounding rounding> inline float subRounded(float a, float b) {
  return addRounded<rounding>(a, -b);
}
template <Rounding rounding> inline float mulRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(a * b);
  return canonical(roundToFloat<rounding>(double(a) * double(b)));
}
template <Rounding rounding> inline float fmaRounded(float a, float b, float c) {
  return sumToFloat<rounding>(double(a) * double(b), c);
}

// A quotient or root of floats that is no float, nor midpoint of two, is farther from all of these than a double's
// rounding moves it (by at least 2^-50 of its size), so that it may be rounded twice.
template <Rounding rounding> inline float divRounded(float a, float b) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(a / b);
  return canonical(roundToFloat<rounding>(double(a) / double(b)));
}
template <Rounding rounding> inline float rcpRounded(float a) {
  return divRounded<rounding>(1.0f, a);
}
template <Rounding rounding> inline float sqrtRounded(float a) {
  if constexpr (rounding == Rounding::NearestEven)
    return canonical(std::sqrt(a));
  return canonical(roundToFloat<rounding>(std::sqrt(double(a))));
}

} // namespace tile::sim::numerics
