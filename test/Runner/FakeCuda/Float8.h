// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 8-bit floats, for the driver and the cuBLAS of tests.
#pragma once

#include <cmath>
#include <cstdint>

inline float decodeE4m3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float magnitude = exponent ? std::ldexp(8.0f + mantissa, exponent - 10) : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -magnitude : magnitude;
}
