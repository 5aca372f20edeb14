// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks: what a warp, or a synchronisation object, knows to have happened.
#pragma once

#include "Simulator/Machine/Access.h"

#include <vector>

namespace tile::sim {

/// The counts of a window of components: those of a CTA stand close together, and most clocks know one CTA only.
class VectorClock {
public:
  uint32_t operator[](Component component) const {
    uint32_t index = component - first;
    return index < counts.size() ? counts[index] : 0;
  }
  bool includes(Epoch epoch) const { return (*this)[epoch.component] >= epoch.count; }
  void raise(Epoch epoch) {
    cover(epoch.component, epoch.component + 1);
    uint32_t &count = counts[epoch.component - first];
    count = count < epoch.count ? epoch.count : count;
  }
  void join(const VectorClock &other) {
    if (other.counts.empty())
      return;
    cover(other.first, other.first + other.counts.size());
    uint32_t *to = counts.data() + (other.first - first);
    const uint32_t *from = other.counts.data();
    for (size_t i = 0, size = other.counts.size(); i < size; ++i)
      to[i] = to[i] < from[i] ? from[i] : to[i];
  }
  bool empty() const { return counts.empty(); }

private:
  void cover(uint32_t begin, uint32_t end) {
    constexpr uint32_t step = 16;
    if (counts.empty())
      first = begin & ~(step - 1);
    if (begin < first) {
      uint32_t newFirst = begin & ~(step - 1);
      counts.insert(counts.begin(), first - newFirst, 0);
      first = newFirst;
    }
    if (end > first + counts.size())
      counts.resize(((end + step - 1) & ~(step - 1)) - first);
  }

  uint32_t first = 0;
  std::vector<uint32_t> counts;
};

/// What passes from those who release to those who acquire. `all`: everything that happened before. `fenced`: the part
/// of it that a `fence.proxy.async` has made visible to the async proxy.
struct SyncClock {
  VectorClock all;
  VectorClock fenced;
  void join(const SyncClock &other) {
    all.join(other.all);
    fenced.join(other.fenced);
  }
};

} // namespace tile::sim
