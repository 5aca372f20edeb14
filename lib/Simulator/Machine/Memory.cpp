// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Machine/Memory.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

/// The gap between two allocations. It is larger than the distance by which an off-by-one tile of a wide matrix misses.
constexpr uint64_t gap = 1 << 20;

uint64_t GlobalMemory::add(std::string name, std::byte *host, uint64_t size, uint64_t alignment, bool initialized,
                           uint64_t offset) {
  alignment = std::max<uint64_t>(alignment, 256);
  uint64_t address = (next + alignment - 1) / alignment * alignment + offset;
  all.push_back({std::move(name), address, size, host, initialized});
  next = address + size + gap;
  return address;
}

void GlobalMemory::remove(uint64_t address) {
  std::erase_if(all, [&](const Allocation &allocation) { return allocation.address == address; });
}

const Allocation *GlobalMemory::find(uint64_t address, uint64_t bytes) const {
  auto next = std::upper_bound(all.begin(), all.end(), address,
                               [](uint64_t value, const Allocation &allocation) { return value < allocation.address; });
  if (next == all.begin())
    return nullptr;
  const Allocation &allocation = *std::prev(next);
  return isWithin(address - allocation.address, bytes, allocation.size) ? &allocation : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
  const Allocation *nearest = nullptr;
  uint64_t distance = gap / 2 + 1;
  for (const Allocation &allocation : all) {
    uint64_t away = address < allocation.address ? allocation.address - address
                    : address < allocation.end() ? 0
                                                 : address - allocation.end() + 1;
    if (away < distance) {
      nearest = &allocation;
      distance = away;
    }
  }
  if (!nearest)
    return address < 4096 ? fmt::format("address {:#x}, a null pointer", address)
                          : fmt::format("address {:#x}, in no buffer", address);
  if (address < nearest->address)
    return fmt::format("{} bytes before '{}' ({} bytes)", distance, nearest->name, nearest->size);
  if (address >= nearest->end())
    return fmt::format("{} bytes past the end of '{}' ({} bytes)", distance - 1, nearest->name, nearest->size);
  return fmt::format("byte {} of '{}' ({} bytes)", address - nearest->address, nearest->name, nearest->size);
}

} // namespace tile::sim
