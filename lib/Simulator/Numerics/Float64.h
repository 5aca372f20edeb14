// Arithmetic on doubles with every rounding. To nearest the host does it; the others are done with 128-bit integers.
#pragma once

#include "Simulator/Numerics/Rounding.h"

namespace tile::sim::numerics {

double addDirected(double a, double b, Rounding rounding);
double mulDirected(double a, double b, Rounding rounding);
double fmaDirected(double a, double b, double c, Rounding rounding);
double divDirected(double a, double b, Rounding rounding);
double sqrtDirected(double a, Rounding rounding);

/// The NaN that arithmetic on doubles gives: x86 hosts generate one with a sign.
inline double canonical(double value) {
  return value != value ? std::bit_cast<double>(uint64_t(0xfff8) << 48) : value;
}

template <Rounding rounding> inline double addRounded(double a, double b) {
  return canonical(rounding == Rounding::NearestEven ? a + b : addDirected(a, b, rounding));
}
template <Rounding rounding> inline double subRounded(double a, double b) {
  return addRounded<rounding>(a, -b);
}
template <Rounding rounding> inline double mulRounded(double a, double b) {
  return canonical(rounding == Rounding::NearestEven ? a * b : mulDirected(a, b, rounding));
}
template <Rounding rounding> inline double fmaRounded(double a, double b, double c) {
  return canonical(rounding == Rounding::NearestEven ? std::fma(a, b, c) : fmaDirected(a, b, c, rounding));
}
template <Rounding rounding> inline double divRounded(double a, double b) {
  return canonical(rounding == Rounding::NearestEven ? a / b : divDirected(a, b, rounding));
}
template <Rounding rounding> inline double rcpRounded(double a) {
  return divRounded<rounding>(1.0, a);
}
template <Rounding rounding> inline double sqrtRounded(double a) {
  return canonical(rounding == Rounding::NearestEven ? std::sqrt(a) : sqrtDirected(a, rounding));
}

} // namespace tile::sim::numerics
