// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events that are known to happen before the next actions of a warp's lanes.
//
// Lanes that act together share one clock, so tracking a whole warp costs no more than tracking a thread. What only
// some lanes know is kept separately until the lanes synchronize. The past of a warp is one component, whose count
// means "all lanes up to this count". Only if some lanes release individually do these lanes get separate components,
// which share the warp's counter.
#pragma once

#include "Simulator/Check/Shadow.h"
#include "Simulator/Machine/Warp.h"

#include <atomic>
#include <memory_resource>
#include <vector>

namespace tile::sim {

/// The components of a warp to which other clocks refer. Must outlive every clock that refers to them.
struct WarpName {
  using allocator_type = std::pmr::polymorphic_allocator<>;
  explicit WarpName(allocator_type allocator = {}) : split(allocator) {}

  Component program = noComponent; ///< its count means "all lanes up to this count"
  /// The separate component of a lane, instead of a `component` of the whole warp: the warp's program or its groups of
  /// copies. Most warps have none, or only those of one lane.
  struct Split {
    Component component;
    uint32_t lane;
    Component own;
  };
  std::pmr::vector<Split> split;
  /// Returns the lane's separate component, or noComponent if the lane has none.
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
  uint32_t count = 1; ///< the epoch of the warp's next actions

  void release(SyncClock &into, LaneMask lanes, LaneMask alive);
  void acquire(const SyncClock &from, LaneMask lanes, LaneMask alive);
  /// Records that each of the lanes has waited for its own operations up to `epoch`; if `collective`, for the
  /// operations of all lanes.
  void raise(Epoch epoch, LaneMask lanes, bool collective);
  void fenceAsync(LaneMask lanes, LaneMask alive);
  void meet(LaneMask lanes, LaneMask alive);
  /// Joins everything that any lane knows into `into`.
  void collect(SyncClock &into) const;

  /// Returns true if `past`, an action of lane `pastLane` of the warp `pastName`, happened before the next action of
  /// `lane`. With everyLane, `past` may be an action of any lane of that warp.
  bool knows(const Past &past, const WarpName *pastName, unsigned pastLane, unsigned lane, bool fenced) const;
  /// Returns true if the common clock, which all lanes know, includes `past`. That suffices in nearly all cases.
  bool allKnow(const Past &past, bool fenced) const {
    return (fenced ? common.fenced : common.all)[past.component] >= past.count;
  }
  /// Returns true if all lanes of `lanes` know the same events.
  bool isUniform(LaneMask lanes) const;

  /// The order of accesses to tensor memory, kept for the warp as a whole: `known` is ordered before the warp's next
  /// accesses; `acquired` will be so after tcgen05.fence::after_thread_sync; `published` passes to threads that wait
  /// for this warp.
  struct TensorOrder {
    VectorClock known, acquired, published;
  };
  TensorOrder tensor;
  void fenceTensor(bool isBefore);

private:
  struct Part {
    LaneMask lanes;
    SyncClock clock; ///< what the lanes know in addition to the common clock
  };
  /// Operations that each of these lanes issued itself and has waited for.
  struct Own {
    Epoch epoch;
    LaneMask lanes;
    LaneMask fenced = 0; ///< lanes that have published the operations to the async proxy
  };
  template <typename Function> void forParts(LaneMask lanes, Function &&function);
  Component laneComponent(Component component, unsigned lane);
  void releaseOwnClock(SyncClock &into, LaneMask lanes, LaneMask alive);
  static bool includes(const VectorClock &clock, const Past &past, const WarpName *pastName, unsigned pastLane);

  SyncClock common;
  std::vector<Part> parts;
  std::vector<Own> own;
  bool partsReleased = true; ///< no part has changed since all lanes last released, at `releasedAt`
  uint32_t releasedAt = 0;
  std::atomic<Component> &components;
};

} // namespace tile::sim
