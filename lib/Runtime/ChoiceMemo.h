// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread's recent choices: a fixed-size set-associative cache, keyed by all inputs of the choice.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tile::runtime {

/// Holds keys of at most `maxWords` 64-bit words; each set has `ways` entries, replaced in rotation.
template <typename Value> class ChoiceMemo {
public:
  static constexpr size_t maxWords = 32;
  using Key = std::array<uint64_t, maxWords>;

  /// Finds the value stored for a key, of which only the first `count` words are read. The first two words must
  /// determine `count` and must not both be 0.
  const Value *find(const Key &key, size_t count) const {
    const Set &set = sets[setOf(key, count)];
    for (size_t way = 0; way < ways; ++way)
      if (equal(set.keys[way], key, count))
        return &set.values[way];
    return nullptr;
  }

  void insert(const Key &key, size_t count, const Value &value) {
    Set &set = sets[setOf(key, count)];
    const size_t way = set.next++ % ways;
    for (size_t i = 0; i < count; ++i)
      set.keys[way][i] = key[i];
    set.values[way] = value;
  }

private:
  static constexpr unsigned setBits = 4;
  static constexpr size_t ways = 4;
  struct Set {
    Key keys[ways] = {};
    Value values[ways] = {};
    unsigned next = 0;
  };

  static bool equal(const Key &a, const Key &b, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (a[i] != b[i])
        return false;
    return true;
  }

  static size_t setOf(const Key &key, size_t count) {
    constexpr uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: spreads into the upper bits
    uint64_t hash = 0;
    for (size_t i = 0; i < count; ++i)
      hash = (std::rotl(hash, 23) ^ key[i]) * multiplier;
    return hash >> (64 - setBits);
  }

  Set sets[1 << setBits];
};

} // namespace tile::runtime
