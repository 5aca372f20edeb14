// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronization through memory: st.release, ld.acquire, atomics, and relaxed accesses before and after fences. See
// PTX ISA 8.9 (release and acquire patterns, synchronizes-with).
#pragma once

#include "Simulator/Check/Knowledge.h"

#include <memory_resource>
#include <unordered_map>
#include <unordered_set>

namespace tile::sim {

/// The fences of a warp: the knowledge that its next strong writes release because of an earlier fence, and the
/// knowledge that relaxed loads have read since the last fence, which the next fence acquires.
struct FenceState {
  struct Snapshot {
    LaneMask lanes;
    Scope scope;
    SyncClock clock;
  };
  std::vector<Snapshot> released;
  LaneMask pendingLanes = 0;
  SyncClock pending;
};

/// A synchronizing thread: its warp's knowledge and its position in the grid.
struct Party {
  Knowledge &knowledge;
  FenceState &fences;
  LaneMask alive;
  uint64_t cta;     ///< linear index in the grid
  uint64_t cluster; ///< index in the grid
  unsigned gpu;
};

class SyncLocations {
public:
  /// Records a strong access of one lane to the location `key`, before it is executed.
  void access(Party party, unsigned lane, uint64_t key, AccessKind kind, MemoryOrder order, Scope scope);
  void fence(Party party, Scope scope, LaneMask lanes);
  void beginCta(uint64_t cta) { live.insert(cta); }
  void endCta(uint64_t cta) { live.erase(cta); }

private:
  /// A release that a read of the location would see now.
  struct Released {
    uint64_t cta, cluster;
    unsigned gpu;
    uint32_t warp;
    uint8_t lane;
    Scope scope;
    StoredClock clock;
  };
  using Location = std::pmr::vector<Released>;
  static bool reaches(const Released &released, const Party &party, Scope scope);
  Released &entry(Location &location, const Party &party, unsigned lane, Scope scope);
  void mergeEnded(Location &location) const;
  void read(Party &party, unsigned lane, const Location &location, MemoryOrder order, Scope scope);
  void write(Party &party, unsigned lane, uint64_t key, bool replaces, MemoryOrder order, Scope scope);
  /// Locations live as long as the grid. They come from a pool because the allocations between them are freed with each
  /// CTA, which would fragment the heap.
  std::pmr::unsynchronized_pool_resource pool;
  std::pmr::unordered_map<uint64_t, Location> locations{&pool};
  std::unordered_set<uint64_t> live; ///< CTAs
};

} // namespace tile::sim
