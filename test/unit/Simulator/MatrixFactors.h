// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands and accumulators for which a tensor core truncates, cancels, overflows, and processes zeros, subnormals and
// NaN.
#pragma once

#include <cstdint>
#include <vector>

namespace tile::sim {

/// A generator with the same values on every machine (splitmix64).
class MatrixRandom {
public:
  explicit MatrixRandom(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  unsigned below(unsigned limit) { return unsigned(next() >> 33) % limit; }

private:
  uint64_t state;
};

struct MatrixFormat {
  int exponentBits, mantissaBits;
  int unusedBits;   ///< below the mantissa: 13 of tf32
  bool hasInfinity; ///< e4m3 has none, and one NaN
  int bits() const { return 1 + exponentBits + mantissaBits + unusedBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};

constexpr MatrixFormat f16Format{5, 10, 0, true}, bf16Format{8, 7, 0, true}, tf32Format{8, 10, 13, true},
    e4m3Format{4, 3, 0, false}, e5m2Format{5, 2, 0, true}, f32Format{8, 23, 0, true}, f64Format{11, 52, 0, true};

/// One MMA: left[row * depth + k], right[k * columns + column], sums[row * columns + column], as bits.
struct MatrixFactors {
  unsigned rows, columns, depth;
  std::vector<uint64_t> left, right, sums;
};

/// Returns operands of class `index` % 48: 8 kinds of operands times 6 kinds of accumulators.
MatrixFactors floatFactors(uint64_t seed, unsigned index, unsigned rows, unsigned columns, unsigned depth,
                           MatrixFormat left, MatrixFormat right, MatrixFormat sum);
/// Returns integers of `bits` bits, some extreme, and 32-bit accumulators, some near the ends of their range.
MatrixFactors integerFactors(uint64_t seed, unsigned index, unsigned rows, unsigned columns, unsigned depth,
                             unsigned bits);

} // namespace tile::sim
