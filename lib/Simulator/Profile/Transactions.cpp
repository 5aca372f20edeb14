// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Profile/Transactions.h"

#include <algorithm>
#include <vector>

namespace tile::sim {

constexpr unsigned bankCount = 32;
constexpr unsigned bankBytes = 4;
constexpr unsigned sectorBytes = 32;

Wavefronts countWavefronts(std::span<const uint64_t> addresses, unsigned bytes) {
  Wavefronts total;
  size_t lanesAtOnce = warpSize * bankBytes / std::max(bytes, bankBytes);
  for (size_t first = 0; first < addresses.size(); first += lanesAtOnce) {
    std::vector<uint64_t> words;
    for (uint64_t address : addresses.subspan(first, std::min(lanesAtOnce, addresses.size() - first)))
      for (uint64_t word = address / bankBytes; word <= (address + bytes - 1) / bankBytes; ++word)
        words.push_back(word);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    uint32_t perBank[bankCount] = {};
    for (uint64_t word : words)
      ++perBank[word % bankCount];
    total.actual += *std::max_element(perBank, perBank + bankCount);
    total.ideal += (words.size() + bankCount - 1) / bankCount;
  }
  return total;
}

Sectors countSectors(std::span<const uint64_t> addresses, unsigned bytes) {
  std::vector<uint64_t> sectors, sorted(addresses.begin(), addresses.end());
  std::sort(sorted.begin(), sorted.end());
  uint64_t distinct = 0, end = 0;
  for (uint64_t address : sorted) {
    distinct += address + bytes - std::max(address, std::min(end, address + bytes));
    end = std::max(end, address + bytes);
    for (uint64_t sector = address / sectorBytes; sector <= (address + bytes - 1) / sectorBytes; ++sector)
      if (sectors.empty() || sectors.back() < sector)
        sectors.push_back(sector);
  }
  return {uint32_t(sectors.size()), uint32_t((distinct + sectorBytes - 1) / sectorBytes)};
}

} // namespace tile::sim
