// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands whose elements can be computed on demand instead of being stored, and expected results in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace across {

inline float fromBf16(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

inline float roundToBf16(double value) {
  const float single = float(value);
  uint32_t word = 0;
  std::memcpy(&word, &single, sizeof(word));
  word += 0x7fff + ((word >> 16) & 1); // to nearest, ties to even
  return fromBf16(uint16_t(word >> 16));
}

/// A pseudorandom sequence of bf16 values between -1 and 1. Its period is prime, so no two rows are equal.
class Sequence {
public:
  Sequence() : values(period) {
    uint64_t state = 1;
    for (uint16_t &bits : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const float value = float(int64_t(state >> 33) - (int64_t(1) << 30)) / float(int64_t(1) << 30);
      uint32_t word = 0;
      std::memcpy(&word, &value, sizeof(word));
      bits = uint16_t(word >> 16);
    }
  }

  static const Sequence &get() {
    static const Sequence sequence;
    return sequence;
  }

  uint16_t bits(uint64_t index) const { return values[index % period]; }
  float value(uint64_t index) const { return fromBf16(bits(index)); }

  /// Returns `count` elements from `first` on.
  std::vector<uint16_t> slice(uint64_t first, size_t count) const {
    std::vector<uint16_t> result(count);
    for (size_t done = 0; done < count;) {
      const size_t from = (first + done) % period, length = std::min<size_t>(count - done, period - from);
      std::memcpy(result.data() + done, values.data() + from, length * sizeof(uint16_t));
      done += length;
    }
    return result;
  }

  static constexpr size_t period = 1048573;

private:
  std::vector<uint16_t> values;
};

/// Returns where the operands of a rank begin in the sequence.
inline uint64_t startOfA(int rank) {
  return 104729ull * uint64_t(rank);
}
inline uint64_t startOfB(int rank) {
  return 500009ull + 224737ull * uint64_t(rank);
}

/// Returns the dot product of row i of a and row j of b (which is stored transposed), each with k elements.
inline double dot(uint64_t startA, int64_t i, uint64_t startB, int64_t j, int64_t k) {
  const Sequence &sequence = Sequence::get();
  double sum = 0;
  for (int64_t p = 0; p < k; ++p)
    sum += double(sequence.value(startA + uint64_t(i * k + p))) * double(sequence.value(startB + uint64_t(j * k + p)));
  return sum;
}

/// Returns the largest error that can result from rounding `ranks` partial sums to bf16.
inline double tolerance(double expected, int64_t k, int ranks) {
  // Relative rounding error of bf16; standard deviation of a product.
  constexpr double roundoff = 0.004, deviation = 1.0 / 3;
  return roundoff * (std::abs(expected) + 4 * ranks * std::sqrt(double(k)) * deviation);
}

} // namespace across
