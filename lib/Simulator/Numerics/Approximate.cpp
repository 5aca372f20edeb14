// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Numerics/Approximate.h"

#include "Simulator/Numerics/Float64.h"

namespace tile::sim::numerics {

float sinApproximate(float x) {
  return canonical(float(std::sin(double(x))));
}

float cosApproximate(float x) {
  return canonical(float(std::cos(double(x))));
}

float tanhApproximate(float x) {
  return canonical(float(std::tanh(double(x))));
}

namespace {

constexpr uint64_t upperBits = ~uint64_t(0xffffffff);

/// Clears the lower 32 bits, and replaces subnormals by zero.
double upperHalf(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x) & upperBits;
  if ((bits & ~(uint64_t(1) << 63)) > uint64_t(0x7ff) << 52)
    return std::bit_cast<double>(uint64_t(0x7fffffff) << 32);
  return std::bit_cast<double>((bits >> 52 & 0x7ff) ? bits : bits & uint64_t(1) << 63);
}

} // namespace

double rcpUpperHalf(double x) {
  return upperHalf(1 / upperHalf(x));
}

double rsqrtUpperHalf(double x) {
  return upperHalf(1 / std::sqrt(upperHalf(x)));
}

double rsqrtDouble(double x) {
  return withNan(1 / std::sqrt(x), x);
}

} // namespace tile::sim::numerics
