// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a warp know to have happened.
//
// Lanes that act together share one clock, so that a whole warp costs no more than a thread. What a part of the warp
// has waited for on its own is kept beside, until the lanes meet. The past of a warp is one component, of which a count
// means "all lanes up to there"; only where some lanes release on their own do these get components of their own,
// whose counts are of the same counter.
#pragma once

#include "Simulator/Check/Shadow.h"
#include "Simulator/Machine/Warp.h"

#include <atomic>
#include <vector>

namespace tile::sim {

/// A warp as others name it; lives as long as anybody may have met it.
struct WarpName {
  Component program = noComponent; ///< "all lanes up to count"
  /// The lanes' own parts of the components of the warp, its program and its groups of copies; of most warps there are
  /// none, or those of one lane.
  struct Split {
    Component component;
    uint32_t lane;
    Component own;
  };
  std::vector<Split> split;
  /// noComponent: the lane has none.
  Component ofLane(Component component, unsigned lane) const {
    for (const Split &entry : split)
      if (entry.component == component && entry.lane == lane)
        return entry.own;
    return noComponent;
  }
};

class Knowledge {
public:
  Knowledge(uint32_t number, WarpName &name, std::atomic<Component> &components)
      : number(number), name(name), components(components) {}

  const uint32_t number; ///< of the warp in the grid
  WarpName &name;
  uint32_t count = 1; ///< of the warp's own actions from now on

  void release(SyncClock &into, LaneMask lanes, LaneMask alive);
  void acquire(const SyncClock &from, LaneMask lanes, LaneMask alive);
  /// Each of the lanes has waited for its own operations up to `epoch`; `collective`: each for those of all lanes.
  void raise(Epoch epoch, LaneMask lanes, bool collective);
  void fenceAsync(LaneMask lanes, LaneMask alive);
  void meet(LaneMask lanes, LaneMask alive);
  /// All that any lane knows joins `into`.
  void collect(SyncClock &into) const;

  /// Whether `past` (by `pastLane` of the warp `pastName`; everyLane: any of them) is known to `lane`.
  bool knows(const Past &past, const WarpName *pastName, unsigned pastLane, unsigned lane, bool fenced) const;
  /// What all lanes know; enough in nearly all cases.
  bool allKnow(const Past &past, bool fenced) const {
    return (fenced ? common.fenced : common.all)[past.component] >= past.count;
  }
  /// All lanes of `lanes` know the same.
  bool isUniform(LaneMask lanes) const;

  /// What is ordered for accesses of tensor memory, kept for the warp as a whole: `known` may be counted on; `acquired`
  /// will be after tcgen05.fence::after_thread_sync; `published` passes to those who wait for this warp.
  struct TensorOrder {
    VectorClock known, acquired, published;
  };
  TensorOrder tensor;
  void fenceTensor(bool isBefore);

private:
  struct Part {
    LaneMask lanes;
    SyncClock clock; ///< in addition to the common one
  };
  /// What each of the lanes knows of its own operations.
  struct Own {
    Epoch epoch;
    LaneMask lanes;
    LaneMask fenced = 0; ///< of the lanes, those that have told the async proxy
  };
  template <typename Function> void forParts(LaneMask lanes, Function &&function);
  Component laneComponent(Component component, unsigned lane);
  void releaseOwn(SyncClock &into, LaneMask lanes, LaneMask alive);
  static bool includes(const VectorClock &clock, const Past &past, const WarpName *pastName, unsigned pastLane);

  SyncClock common;
  std::vector<Part> parts;
  std::vector<Own> own;
  bool partsReleased = true; ///< parts have not changed since all lanes released last, at `releasedAt`
  uint32_t releasedAt = 0;
  std::atomic<Component> &components;
};

} // namespace tile::sim
