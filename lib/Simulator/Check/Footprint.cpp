// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Footprint.h"

#include <algorithm>

namespace tile::sim {

Footprint::Page &Footprint::page(uint64_t number) {
  if (number != recentNumber) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    recentNumber = number;
    recent = page.get();
  }
  return *recent;
}

void Footprint::add(AccessKind kind, uint64_t address, uint64_t bytes) {
  constexpr uint64_t pageBytes = uint64_t(1) << pageShift;
  for (const uint64_t end = address + bytes; address < end;) {
    Bits &bits = page(address >> pageShift).bits[unsigned(kind)];
    const uint64_t inPage = address % pageBytes;
    const uint64_t count = std::min({end - address, pageBytes - inPage, wordBits - inPage % wordBits});
    bits[inPage / wordBits] |= (~uint64_t(0) >> (wordBits - count)) << inPage % wordBits;
    address += count;
  }
}

void Footprint::join(const Footprint &other) {
  for (const auto &[number, from] : other.pages) {
    Page &into = page(number);
    for (unsigned kind = 0; kind < std::size(into.bits); ++kind)
      for (size_t i = 0; i < into.bits[kind].size(); ++i)
        into.bits[kind][i] |= from->bits[kind][i];
  }
  words.insert(other.words.begin(), other.words.end());
}

std::vector<Stretch> Footprint::stretches(AccessKind kind) const {
  std::vector<uint64_t> pageNumbers;
  for (const auto &[number, page] : pages)
    pageNumbers.push_back(number);
  std::sort(pageNumbers.begin(), pageNumbers.end());
  std::vector<Stretch> result;
  for (uint64_t number : pageNumbers) {
    const Bits &bits = pages.at(number)->bits[unsigned(kind)];
    for (unsigned i = 0; i < bits.size(); ++i) {
      const uint64_t base = (number << pageShift) + i * wordBits;
      for (uint64_t remaining = bits[i]; remaining;) {
        const unsigned first = std::countr_zero(remaining), count = std::countr_one(remaining >> first);
        if (!result.empty() && result.back().end == base + first)
          result.back().end += count;
        else
          result.push_back({base + first, base + first + count});
        remaining = first + count == wordBits ? 0 : remaining >> (first + count) << (first + count);
      }
    }
  }
  return result;
}

} // namespace tile::sim
