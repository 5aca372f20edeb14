// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The approximate functions. They are computed in double and rounded once. The results are more accurate than the error
// bounds that PTX documents for the hardware (given in the comments), so they differ from the hardware's in the last
// bits.
//
// Special values are handled as in the tables of PTX ISA 9.7.3.
#pragma once

#include "Simulator/Numerics/Float32.h"
#include "Simulator/Numerics/Formats.h"

#include <initializer_list>

namespace tile::sim::numerics {

/// Returns 2^x, with a relative error below 2^-40. Vectorizes.
inline double exp2Double(double x) {
  x = x < -2000 ? -2000 : x > 2000 ? 2000 : x; // NaN remains NaN
  // Adding 1.5 · 2^52 rounds x to an integer, which is then in the low bits of the sum.
  double shifted = x + 0x1.8p52;
  double f = (x - (shifted - 0x1.8p52)) * 0.693147180559945309; // in [-0.35, 0.35]
  double p = 1.0 / 3628800;
  for (double c : {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    p = p * f + c;
  // 2^n is multiplied in as two factors, because 2^n alone may be out of range.
  int64_t exponent = int64_t(std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(0x1.8p52));
  int64_t half = exponent >> 1;
  double low = std::bit_cast<double>(uint64_t(half + 1023) << 52);
  double high = std::bit_cast<double>(uint64_t(exponent - half + 1023) << 52);
  return p * low * high;
}

/// Returns log2(x) of a positive x that is normal in double, with an error below 2^-40.
inline double log2Double(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  bool isUpper = fraction > 0x6a09e667f3bcdu; // mantissa above sqrt(2)
  int32_t exponent = int32_t(bits >> 52) - 1023 + isUpper;
  double m = std::bit_cast<double>(fraction | uint64_t(isUpper ? 1022 : 1023) << 52);
  double s = (m - 1) / (m + 1), t = s * s;
  double p = 1.0 / 15;
  for (double c : {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0})
    p = p * t + c;
  return exponent + s * p * 2.88539008177792681; // 2 / ln 2
}

/// ex2.approx: relative error below 2^-22.5.
inline float exp2Approximate(float x) {
  return canonical(float(exp2Double(x)));
}
/// lg2.approx: absolute error below 2^-22 in (0.5, 2), relative error elsewhere.
inline float log2Approximate(float x) {
  float result = float(log2Double(x));
  result = x == __builtin_inff() ? x : result;
  result = x == 0 ? -__builtin_inff() : result;
  return canonical(x < 0 || x != x ? __builtin_nanf("") : result);
}
/// rsqrt.approx: relative error below 2^-22.9.
inline float rsqrtApproximate(float x) {
  return canonical(float(1 / std::sqrt(double(x))));
}
/// rcp.approx: error of at most 1 ulp.
inline float rcpApproximate(float x) {
  return rcpRounded<Rounding::NearestEven>(x);
}
/// sin.approx, cos.approx: absolute error below 2^-20.5 in [-2π, 2π].
float sinApproximate(float x);
float cosApproximate(float x);
/// tanh.approx: relative error below 2^-11 for f32 and 2^-8 for bf16; absolute error below 2^-10.987 for f16.
float tanhApproximate(float x);

/// div.approx: error of at most 2 ulp for 2^-126 <= |b| <= 2^126. For larger b the reciprocal underflows and the result
/// is 0, or NaN if a is infinite.
template <bool flush> inline float divApproximate(float a, float b) {
  bool isLarge = std::fabs(b) > 0x1p126f && std::fabs(b) < __builtin_inff();
  float zero = std::copysign(0.0f, a) * std::copysign(1.0f, b);
  float lost = std::fabs(a) < __builtin_inff() ? zero : __builtin_nanf("");
  return canonical(isLarge ? lost : divRounded<Rounding::NearestEven, flush>(a, b));
}
/// div.full: error of at most 2 ulp everywhere.
template <bool flush> inline float divFull(float a, float b) {
  return divRounded<Rounding::NearestEven, flush>(a, b);
}

/// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: use only the upper 32 bits of the operand and compute only those of the
/// result.
double rcpUpperHalf(double x);
double rsqrtUpperHalf(double x);
/// rsqrt.approx.f64
double rsqrtDouble(double x);

} // namespace tile::sim::numerics
