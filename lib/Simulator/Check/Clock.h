// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks: the events that happened before the current point of a warp or a synchronization object.
#pragma once

#include "Simulator/Machine/Access.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tile::sim {

/// The counts of all components. They are stored in blocks of adjacent components, because the components of a CTA are
/// adjacent and most clocks include only a few CTAs.
class VectorClock {
public:
  uint32_t operator[](Component component) const {
    const Block *block = find(component & ~(blockSize - 1));
    return block ? block->counts[component % blockSize] : 0;
  }
  bool includes(Epoch epoch) const { return (*this)[epoch.component] >= epoch.count; }
  void raise(Epoch epoch) {
    uint32_t &count = cover(epoch.component & ~(blockSize - 1)).counts[epoch.component % blockSize];
    count = count < epoch.count ? epoch.count : count;
  }
  void join(const VectorClock &other) {
    size_t at = 0;
    for (const Block &from : other.blocks) {
      while (at < blocks.size() && blocks[at].first < from.first)
        ++at;
      if (at == blocks.size() || blocks[at].first != from.first) {
        blocks.insert(blocks.begin() + at, from);
        continue;
      }
      for (uint32_t i = 0; i < blockSize; ++i)
        blocks[at].counts[i] = blocks[at].counts[i] < from.counts[i] ? from.counts[i] : blocks[at].counts[i];
    }
  }
  bool empty() const { return blocks.empty(); }
  /// Returns the counts that are not zero, or nullopt if there are more than `most`.
  std::optional<std::vector<Epoch>> fewEpochs(size_t most) const {
    std::vector<Epoch> epochs;
    if (blocks.size() > most)
      return std::nullopt;
    for (const Block &block : blocks)
      for (uint32_t i = 0; i < blockSize; ++i)
        if (block.counts[i] && epochs.size() == most)
          return std::nullopt;
        else if (block.counts[i])
          epochs.push_back({block.first + i, block.counts[i]});
    return epochs;
  }

private:
  static constexpr uint32_t blockSize = 16;
  struct Block {
    Component first = 0; ///< a multiple of blockSize
    std::array<uint32_t, blockSize> counts = {};
  };

  const Block *find(Component first) const {
    if (!blocks.empty() && blocks.back().first == first)
      return &blocks.back();
    auto found = std::lower_bound(blocks.begin(), blocks.end(), first,
                                  [](const Block &block, Component value) { return block.first < value; });
    return found != blocks.end() && found->first == first ? &*found : nullptr;
  }
  Block &cover(Component first) {
    auto found = std::lower_bound(blocks.begin(), blocks.end(), first,
                                  [](const Block &block, Component value) { return block.first < value; });
    if (found == blocks.end() || found->first != first)
      found = blocks.insert(found, Block{first, {}});
    return *found;
  }

  std::vector<Block> blocks; ///< sorted by their first components
};

/// The happens-before information that a release passes to an acquire. `all` is everything that happened before the
/// release; `fenced` is the part of `all` that a `fence.proxy.async` has made visible to the async proxy; `tensor`
/// contains the accesses to tensor memory that a `tcgen05.fence::before_thread_sync`, or a commit, has ordered before
/// the release.
struct SyncClock {
  VectorClock all;
  VectorClock fenced;
  VectorClock tensor;
  void join(const SyncClock &other) {
    all.join(other.all);
    fenced.join(other.fenced);
    tensor.join(other.tensor);
  }
};

/// A clock that is kept for a long time, such as the clock of a location that a grid has released. Most of these clocks
/// hold only the count of one thread and the counts of the warps of its CTA, and are stored compactly.
class StoredClock {
public:
  template <typename Function> void read(Function &&function) const {
    if (large)
      return function(static_cast<const SyncClock &>(*large));
    SyncClock clock;
    expand(clock);
    function(static_cast<const SyncClock &>(clock));
  }
  template <typename Function> void edit(Function &&function) {
    if (!large) {
      large = std::make_unique<SyncClock>();
      expand(*large);
    }
    function(*large);
    compact();
  }

private:
  void expand(SyncClock &clock) const {
    for (const Epoch &epoch : few)
      if (epoch.count)
        clock.all.raise(epoch);
  }
  void compact() {
    if (!large->fenced.empty() || !large->tensor.empty())
      return;
    if (std::optional<std::vector<Epoch>> epochs = large->all.fewEpochs(few.size())) {
      few = {};
      std::copy(epochs->begin(), epochs->end(), few.begin());
      large = nullptr;
    }
  }

  std::array<Epoch, 6> few = {};    ///< the nonzero counts, if they fit; a count of 0 marks an unused entry
  std::unique_ptr<SyncClock> large; ///< all counts, if they do not fit into `few`; otherwise null
};

} // namespace tile::sim
