// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shadow memory: the last write and the later reads of each byte.
//
// A cell covers 16 bytes. Each of its records describes an action on some of these bytes, given by a byte mask, so
// small accesses lose no precision and large ones are cheap. Three records fit into a cell; further ones go into a
// chain of blocks.
#pragma once

#include "Simulator/Machine/Access.h"

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tile::sim {

constexpr unsigned cellBytes = 16;
using ByteMask = uint16_t; ///< bit i: byte i of a cell

/// The lane that accessed each byte of a cell: lane0 + (byte >> shift), modulo 32, since consecutive lanes mostly
/// access consecutive addresses. If `shift` is everyLane, all lanes of the warp accessed all bytes.
struct LaneMap {
  static constexpr uint8_t everyLane = 7;
  uint8_t lane0 = 0;
  uint8_t shift = 4;
  bool isEveryLane() const { return shift == everyLane; }
  unsigned lane(unsigned byte) const { return (lane0 + (byte >> shift)) % warpSize; }
  bool operator==(const LaneMap &) const = default;
};

/// The origin of an action: the epoch that the clock of a later access must include, the warp (by its index in the
/// grid) and the PTX line.
struct Past {
  Component component = noComponent;
  uint32_t count = 0;
  uint32_t warp = 0;
  uint32_t lineAndLanes = 0; ///< line << 8 | lane0 << 3 | shift

  uint32_t line() const { return lineAndLanes >> 8; }
  LaneMap lanes() const { return {uint8_t(lineAndLanes >> 3 & 31), uint8_t(lineAndLanes & 7)}; }
  void set(uint32_t line, LaneMap lanes) { lineAndLanes = line << 8 | uint32_t(lanes.lane0) << 3 | lanes.shift; }
  bool operator==(const Past &) const = default;
};

/// The kind of an action, in one byte.
struct Manner {
  uint8_t kind : 2 = 0; ///< AccessKind
  /// relaxed, acquire, release, volatile or atomic; does not race with other strong accesses within its scope
  uint8_t strong : 1 = 0;
  uint8_t async : 1 = 0; ///< asynchronous: finished only for threads whose clock includes its epoch
  uint8_t proxy : 1 = 0; ///< through the async proxy
  uint8_t scope : 2 = 0; ///< the scope of a strong access

  AccessKind accessKind() const { return AccessKind(kind); }
  bool writes() const { return accessKind() != AccessKind::Read; }
  bool operator==(const Manner &) const = default;
};

struct Cell {
  static constexpr unsigned capacity = 3;
  uint32_t more = 0;        ///< the next block of the chain, plus 1; 0: none
  ByteMask initialized = 0; ///< initialized bytes
  uint8_t barriers = 0;     ///< bit i is set if bytes 8 * i to 8 * i + 7 are an mbarrier object
  Manner manners[capacity];
  ByteMask masks[capacity] = {0, 0, 0}; ///< 0: the record is unused
  Past records[capacity];
};
static_assert(sizeof(Cell) == 64);

/// A block of further records of a cell.
struct RecordBlock {
  static constexpr unsigned capacity = 5;
  uint32_t more = 0;
  Manner manners[capacity];
  ByteMask masks[capacity] = {0, 0, 0, 0, 0};
  Past records[capacity];
};

/// The shadow of one memory: a CTA's shared memory, or global memory.
class Shadow {
public:
  static constexpr unsigned pageShift = 12;
  static constexpr unsigned pageCells = (1u << pageShift) / cellBytes;
  /// The values that were stored: if all writers of a byte write the same value, their order does not matter.
  struct Values {
    uint8_t value[1u << pageShift];
    std::bitset<(1u << pageShift)> known;  ///< bytes that were stored
    std::bitset<(1u << pageShift)> varied; ///< bytes that were stored with different values, or with an unknown one
    void note(unsigned byte, std::optional<uint8_t> stored) {
      varied[byte] = varied[byte] || !stored || (known[byte] && value[byte] != *stored);
      known[byte] = true;
      value[byte] = stored.value_or(0);
    }
  };
  struct Page {
    Cell cells[pageCells];
    std::unique_ptr<Values> values; ///< for global memory only; null if nothing was stored
  };

  Cell &cell(uint64_t address) { return page(address >> pageShift).cells[address / cellBytes % pageCells]; }
  Page &page(uint64_t number) {
    Recent &recent = recents[number % numRecents];
    if (recent.page && recent.number == number)
      return *recent.page;
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    recent = {number, page.get()};
    return *page;
  }

  /// Calls `function(mask, manner, record)` for each record of a cell with a byte in `mask`, until the function returns
  /// false. The function may clear bits of the record's mask; clearing all of them frees the record. Returns the first
  /// free record in `free` if that is not null.
  struct Entry {
    ByteMask *mask = nullptr;
    Manner *manner = nullptr;
    Past *record = nullptr;
  };
  template <typename Function> void forRecords(Cell &cell, ByteMask mask, Entry *free, Function &&function) {
    uint32_t more = cell.more;
    if (!visit(cell, mask, free, function))
      return;
    while (more) {
      RecordBlock &block = blockAt(more);
      more = block.more;
      if (!visit(block, mask, free, function))
        return;
    }
  }
  void add(Cell &cell, const Entry &free, ByteMask mask, Manner manner, const Past &record) {
    Entry entry = free.mask ? free : extend(cell);
    *entry.mask = mask;
    *entry.manner = manner;
    *entry.record = record;
  }
  const std::unordered_map<uint64_t, std::unique_ptr<Page>> &touchedPages() const { return pages; }

private:
  template <typename Group, typename Function>
  static bool visit(Group &group, ByteMask mask, Entry *free, Function &function) {
    for (unsigned i = 0; i < Group::capacity; ++i) {
      if (group.masks[i] & mask)
        if (!function(group.masks[i], group.manners[i], group.records[i]))
          return false;
      if (free && !group.masks[i] && !free->mask)
        *free = {&group.masks[i], &group.manners[i], &group.records[i]};
    }
    return true;
  }
  Entry extend(Cell &cell);

  static constexpr unsigned numRecents = 64;
  struct Recent {
    uint64_t number = 0;
    Page *page = nullptr;
  };
  Recent recents[numRecents];
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  /// Blocks are numbered from 1. They are allocated in batches, because individually allocated blocks outlive CTAs and
  /// would fragment the heap between the allocations of CTAs.
  static constexpr size_t blocksAtOnce = 64;
  RecordBlock &blockAt(uint32_t number) { return (*blocks[(number - 1) / blocksAtOnce])[(number - 1) % blocksAtOnce]; }
  std::vector<std::unique_ptr<std::array<RecordBlock, blocksAtOnce>>> blocks;
  uint32_t numBlocks = 0;
};

/// Returns a mask of `count` bytes of a cell, from `begin` on.
inline ByteMask byteMask(unsigned begin, unsigned count) {
  return ByteMask(((1u << count) - 1) << begin);
}

} // namespace tile::sim
