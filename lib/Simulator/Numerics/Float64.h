// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on doubles in every rounding mode. Rounding to nearest uses the host's arithmetic; the other modes use
// 128-bit integers.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

double addDirected(double a, double b, Rounding rounding);
double mulDirected(double a, double b, Rounding rounding);
double fmaDirected(double a, double b, double c, Rounding rounding);
double divDirected(double a, double b, Rounding rounding);
double sqrtDirected(double a, Rounding rounding);

/// Returns the quiet NaN to which the hardware converts a NaN operand.
inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | uint64_t(1) << 51);
}

/// Returns `result` unless it is NaN. If it is, returns the first operand that is NaN, made quiet, or, if no operand
/// is, the NaN that the hardware generates. Operands are passed in the order in which an H200 checks them.
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
