// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generator that depends only on its seed, on every machine (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tile::fuzz {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Returns a value from 0 to count - 1.
  int64_t below(int64_t count) { return static_cast<int64_t>(next() % static_cast<uint64_t>(count)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> choices) { return choices.begin()[below(choices.size())]; }
  template <typename T> const T &pick(const std::vector<T> &choices) { return choices[below(choices.size())]; }

private:
  uint64_t state;
};

} // namespace tile::fuzz
