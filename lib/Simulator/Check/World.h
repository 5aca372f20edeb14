// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A set of thread blocks that may be ordered with each other: a cluster or, if thread blocks communicate, the whole
// grid. It runs in one host thread, so it needs no locks.
#pragma once

#include "Simulator/Check/Findings.h"
#include "Simulator/Check/Footprint.h"
#include "Simulator/Check/Locations.h"

namespace tile::sim {

class World;

/// The shadows of a CTA's shared memory and tensor memory.
struct CtaShadow {
  Cta *cta = nullptr;
  Shadow memory;
  Shadow tensorMemory;
  bool touchedByPeers = false;
  /// The last asynchronous operation of each component on the CTA's memory.
  struct Pending {
    Past past;
    Manner manner;
    uint64_t address;
  };
  std::vector<Pending> pending;
  struct BarrierInit {
    uint32_t warp = 0;
    LaneMask lanes = 0;
    uint32_t line = 0;
    bool fenced = false;
  };
  std::unordered_map<uint32_t, BarrierInit> barriers; ///< by offset
};

struct ClusterShadows {
  std::vector<std::unique_ptr<CtaShadow>> ctas; ///< by rank
  uint32_t number = 0;                          ///< smallest linear id of its CTAs
  unsigned alive = 0;
};

struct WarpState final : Warp::CheckState {
  WarpState(World &world, ClusterShadows &cluster, uint32_t number, WarpName &name, std::atomic<Component> &components)
      : world(world), cluster(cluster), knowledge(number, name, components) {}
  World &world;
  ClusterShadows &cluster;
  Knowledge knowledge;
  FenceState fences;
};

/// An access that is being checked.
struct Now {
  WarpState &warp;
  Past past; ///< the record to create
  Manner manner;
  unsigned lane = 0;        ///< the lane whose clock decides whether the access is ordered
  bool whole = false;       ///< all living lanes take part in the access
  bool barrier = false;     ///< an access to an mbarrier object by an mbarrier instruction
  bool fenced = false;      ///< the access needs no proxy fence
  bool isTensor = false;    ///< an access to the owner's tensor memory
  bool isPipelined = false; ///< an access by the tensor core
  bool needsTensorFence = false;
  uint32_t bytes = 0;         ///< for messages
  CtaShadow *owner = nullptr; ///< null: global memory
  const LaneAccess *access = nullptr;
};

class World {
public:
  World(Naming &naming) : naming(naming), findings(naming) {}

  /// Checks the access `now` to these bytes and records it. `lanesAt(address)` returns the lanes that access the bytes
  /// of the cell at this address.
  template <typename LanesAt> void touch(Now &now, uint64_t address, uint64_t bytes, LanesAt &&lanesAt) {
    Shadow &shadow = now.isTensor ? now.owner->tensorMemory : now.owner ? now.owner->memory : global;
    for (uint64_t end = address + bytes; address < end;) {
      uint64_t cellAddress = address & ~uint64_t(cellBytes - 1);
      unsigned begin = address - cellAddress;
      unsigned count = std::min<uint64_t>(cellBytes - begin, end - address);
      now.past.set(now.past.line(), lanesAt(cellAddress));
      touchCell(shadow, cellAddress, byteMask(begin, count), now);
      address = cellAddress + cellBytes;
    }
  }
  void endCta(CtaShadow &cta);

  Naming &naming;
  Findings findings;
  Shadow global;
  SyncLocations locations;
  Footprint footprint;                         ///< accesses to global memory, if they are collected
  std::pmr::unsynchronized_pool_resource pool; ///< allocates the data that outlives CTAs
  std::pmr::unordered_map<uint32_t, WarpName> names{&pool};
  std::unordered_map<const Cluster *, std::unique_ptr<ClusterShadows>> clusters;

private:
  void touchCell(Shadow &shadow, uint64_t cellAddress, ByteMask mask, Now &now);
  void noteValues(uint64_t cellAddress, ByteMask mask, const Now &now);
  void checkInitialized(Cell &cell, uint64_t cellAddress, ByteMask mask, const Now &now);
  void checkBarrier(const Cell &cell, uint64_t cellAddress, ByteMask mask, const Now &now);
  Order order(const Now &now, const Past &past, Manner manner, ByteMask overlap, unsigned &byte);
  Order tensorOrder(const Now &now, const Past &past, Manner manner, unsigned byte);
  bool knows(const Now &now, const Past &past, Manner manner, unsigned byte, bool fenced);
  bool knowsLane(const VectorClock &clock, const Past &past, unsigned lane) const;
  bool mayMeet(const Now &now, const Past &past, Manner manner) const;
  bool sameInstruction(const Now &now, const Past &past, Manner manner) const;
  bool checkConflict(Shadow &shadow, Cell &cell, uint64_t cellAddress, ByteMask mask, Now &now, ByteMask &pastMask,
                     Manner manner, Past &past, bool &recorded);
  ByteMask knownWrites(Shadow &shadow, Cell &cell, ByteMask mask, const Now &now);
  bool writesSameValue(const Now &now, ByteMask overlap, uint64_t cellAddress);
  void checkCoherence(const Now &now, const Past &past, Manner manner, ByteMask overlap, uint64_t cellAddress);
  void checkValues(const Now &now, const Past &past, ByteMask overlap, uint64_t cellAddress);
  void report(const Now &now, const Past &past, Manner manner, unsigned byte, uint64_t cellAddress, Order order);
  Findings::Site site(const Now &now, uint64_t address) const;
  Deed deed(const Now &now, unsigned byte) const;

  const Allocation *lastAllocation = nullptr;
};

} // namespace tile::sim
