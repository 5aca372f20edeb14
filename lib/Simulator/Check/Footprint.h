// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of global memory that an operation of a stream accesses, and the words through which it synchronizes.
#pragma once

#include "Simulator/Machine/Access.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace tile::sim {

/// A range of addresses.
struct Stretch {
  uint64_t begin = 0, end = 0;
};

/// The bytes that were accessed, as one set per access kind, collected page by page.
class Footprint {
public:
  void add(AccessKind kind, uint64_t address, uint64_t bytes);
  /// Adds a word that was accessed by an atomic or by a load or store with an order. It synchronizes with the accesses
  /// of other launches to the same address.
  void addSynchronized(uint64_t address) { words.insert(address); }
  void join(const Footprint &other);

  /// Returns the bytes with accesses of this kind, sorted by address; the stretches are disjoint and not adjacent.
  std::vector<Stretch> stretches(AccessKind kind) const;
  const std::set<uint64_t> &synchronized() const { return words; }

private:
  static constexpr unsigned pageShift = 12, wordBits = 64;
  using Bits = std::array<uint64_t, (1u << pageShift) / wordBits>;
  struct Page {
    Bits bits[3] = {}; ///< by access kind
  };
  Page &page(uint64_t number);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t recentNumber = ~uint64_t(0);
  Page *recent = nullptr;
  std::set<uint64_t> words;
};

} // namespace tile::sim
