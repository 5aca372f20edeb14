// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The random generator of schedules. The same seed gives the same sequence on every machine.
#pragma once

#include <cstdint>

namespace tile::sim {

/// The SplitMix64 generator.
class Random {
public:
  explicit Random(uint64_t seed = 0) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Returns an integer below `limit`, which must not be 0.
  uint64_t below(uint64_t limit) { return next() % limit; }

private:
  uint64_t state;
};

} // namespace tile::sim
