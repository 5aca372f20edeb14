// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on doubles with every rounding. The host rounds to nearest; the other modes use 128-bit integers.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

double addDirected(double a, double b, Rounding rounding);
double mulDirected(double a, double b, Rounding rounding);
double fmaDirected(double a, double b, double c, Rounding rounding);
double divDirected(double a, double b, Rounding rounding);
double sqrtDirected(double a, Rounding rounding);

/// The hardware's conversion of a NaN operand.
inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | uint64_t(1) << 51);
}

/// Returns `result` or, if it is NaN, the first of the operands that is NaN, quiet; otherwise the NaN that the hardware
/// generates. The order of the operands is that of an H200.
template <typename... Operands> inline double withNan(double result, Operands... operands) {
  if (result == result)
    return result;
  double nan = std::bit_cast<double>(uint64_t(0xfff8) << 48);
  bool isFound = false;
  ((nan = !isFound && operands != operands ? quiet(operands) : nan, isFound |= operands != operands), ...);
  return nan;
}

template <Rounding rounding> inline double addRounded(double a, double b) {
  return withNan(rounding == Rounding::NearestEven ? a + b : addDirected(a, b, rounding), b, a);
}
template <Rounding rounding> inline double subRounded(double a, double b) {
  return withNan(rounding == Rounding::NearestEven ? a - b : addDirected(a, -b, rounding), b, a);
}
template <Rounding rounding> inline double mulRounded(double a, double b) {
  return withNan(rounding == Rounding::NearestEven ? a * b : mulDirected(a, b, rounding), b, a);
}
template <Rounding rounding> inline double fmaRounded(double a, double b, double c) {
  return withNan(rounding == Rounding::NearestEven ? std::fma(a, b, c) : fmaDirected(a, b, c, rounding), b, c, a);
}
template <Rounding rounding> inline double divRounded(double a, double b) {
  return withNan(rounding == Rounding::NearestEven ? a / b : divDirected(a, b, rounding), a, b);
}
template <Rounding rounding> inline double rcpRounded(double a) {
  return divRounded<rounding>(1.0, a);
}
template <Rounding rounding> inline double sqrtRounded(double a) {
  return withNan(rounding == Rounding::NearestEven ? std::sqrt(a) : sqrtDirected(a, rounding), a);
}

} // namespace tile::sim::numerics
