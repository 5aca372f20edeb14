// Vector clocks: what a warp, or a synchronisation object, knows to have happened.
#pragma once

#include "Simulator/Machine/Access.h"

#include <vector>

namespace tile::sim {

class VectorClock {
public:
  uint32_t operator[](Component component) const { return component < counts.size() ? counts[component] : 0; }
  bool includes(Epoch epoch) const { return (*this)[epoch.component] >= epoch.count; }
  void raise(Epoch epoch) {
    if (epoch.component >= counts.size())
      counts.resize(epoch.component + 1);
    if (counts[epoch.component] < epoch.count)
      counts[epoch.component] = epoch.count;
  }
  void join(const VectorClock &other) {
    if (counts.size() < other.counts.size())
      counts.resize(other.counts.size());
    for (size_t i = 0; i < other.counts.size(); ++i)
      counts[i] = counts[i] < other.counts[i] ? other.counts[i] : counts[i];
  }

private:
  std::vector<uint32_t> counts;
};

/// What passes from those who release to those who acquire. `all`: everything that happened before. `fenced`: the part
/// of it that a `fence.proxy.async` has made visible to the async proxy.
struct SyncClock {
  VectorClock all;
  VectorClock fenced;
};

} // namespace tile::sim
