// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events that the lanes of a warp know to have happened.
//
// Lanes that act together share one clock, so that a whole warp costs no more than a thread. Knowledge of a part of the
// warp is kept separately until the lanes synchronize. The past of a warp is one component, whose count means "all
// lanes up to there". Only if some lanes release individually do these get separate components, which share the
// counter.
#pragma once

#include "Simulator/Check/Shadow.h"
#include "Simulator/Machine/Warp.h"

#include <atomic>
#include <memory_resource>
#include <vector>

namespace tile::sim {

/// The components of a warp that other clocks refer to; lives as long as any clock may refer to it.
struct WarpName {
  using allocator_type = std::pmr::polymorphic_allocator<>;
  explicit WarpName(allocator_type allocator = {}) : split(allocator) {}

  Component program = noComponent; ///< "all lanes up to count"
  /// The separate components of single lanes, of the warp's program and of its groups of copies; most warps have none,
  /// or those of one lane.
  struct Split {
    Component component;
    uint32_t lane;
    Component own;
  };
  std::pmr::vector<Split> split;
  /// noComponent if the lane has none.
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

  const uint32_t number; ///< index of the warp in the grid
  WarpName &name;
  uint32_t count = 1; ///< epoch of the warp's actions from now on

  void release(SyncClock &into, LaneMask lanes, LaneMask alive);
  void acquire(const SyncClock &from, LaneMask lanes, LaneMask alive);
  /// Each of the lanes has waited for its own operations up to `epoch`; `collective`: each for those of all lanes.
  void raise(Epoch epoch, LaneMask lanes, bool collective);
  void fenceAsync(LaneMask lanes, LaneMask alive);
  void meet(LaneMask lanes, LaneMask alive);
  /// Joins everything that any lane knows to `into`.
  void collect(SyncClock &into) const;

  /// Returns true if `lane` knows `past` (of lane `pastLane` of the warp `pastName`; everyLane: of any of them).
  bool knows(const Past &past, const WarpName *pastName, unsigned pastLane, unsigned lane, bool fenced) const;
  /// The knowledge of all lanes, which suffices in nearly all cases.
  bool allKnow(const Past &past, bool fenced) const {
    return (fenced ? common.fenced : common.all)[past.component] >= past.count;
  }
  /// Returns true if all lanes of `lanes` know the same events.
  bool isUniform(LaneMask lanes) const;

  /// The order of accesses to tensor memory, kept for the warp as a whole: `known` is established; `acquired` will be
  /// after tcgen05.fence::after_thread_sync; `published` passes to threads that wait for this warp.
  struct TensorOrder {
    VectorClock known, acquired, published;
  };
  TensorOrder tensor;
  void fenceTensor(bool isBefore);

private:
  struct Part {
    LaneMask lanes;
    SyncClock clock; ///< knowledge in addition to the common clock
  };
  /// The knowledge of each lane about its own operations.
  struct Own {
    Epoch epoch;
    LaneMask lanes;
    LaneMask fenced = 0; ///< lanes that have published to the async proxy
  };
  template <typename Function> void forParts(LaneMask lanes, Function &&function);
  Component laneComponent(Component component, unsigned lane);
  void releaseOwnClock(SyncClock &into, LaneMask lanes, LaneMask alive);
  static bool includes(const VectorClock &clock, const Past &past, const WarpName *pastName, unsigned pastLane);

  SyncClock common;
  std::vector<Part> parts;
  std::vector<Own> own;
  bool partsReleased = true; ///< parts have not changed since all lanes last released, at `releasedAt`
  uint32_t releasedAt = 0;
  std::atomic<Component> &components;
};

} // namespace tile::sim
