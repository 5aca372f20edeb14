// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checker's implementation. Checker.h declares the events, World.h compares accesses, and Knowledge.h tracks their
// order.
#pragma once

#include "Simulator/Check/ClusterCompare.h"
#include "Simulator/Check/World.h"

namespace tile::sim {

class HappensBefore final : public Checker {
public:
  HappensBefore(const Machine &machine, Footprint *footprint)
      : machine(machine), naming(machine), footprint(footprint) {}
  ~HappensBefore() override;

  Component addComponent(std::string what) override;
  void startCta(Cta &cta) override;
  void endCta(Cta &cta) override;
  void endGrid() override;
  void access(Warp &warp, const LaneAccess &access) override;
  void asyncAccess(Warp &warp, unsigned lane, const SourceLoc &loc, AccessKind kind, const Range &range, bool proxy,
                   Epoch finished) override;
  void tensorAccess(Warp &warp, const TensorAccess &access) override;
  void releaseTensor(Warp &warp, SyncClock &into) override;
  void acquireTensor(Warp &warp, const SyncClock &from) override;
  void fenceTensor(Warp &warp, bool isBefore) override;
  bool knows(Warp &warp, unsigned lane, Epoch epoch) override;
  bool hasMet(Warp &warp, const Cta &peer) override;
  void release(Warp &warp, SyncClock &into, LaneMask lanes) override;
  void acquire(Warp &warp, const SyncClock &from, LaneMask lanes) override;
  void raise(Warp &warp, Epoch epoch, LaneMask lanes, bool collective) override;
  void releaseEpoch(Epoch epoch, SyncClock &into) override;
  void fenceAsync(Warp &warp, LaneMask lanes) override;
  void fenceBarrierInit(Warp &warp, LaneMask lanes) override;
  void fence(Warp &warp, Scope scope, LaneMask lanes) override;
  void syncLanes(Warp &warp, LaneMask mask) override;
  void barrierAccess(Warp &warp, LaneMask lanes, const SourceLoc &loc, Cta &cta, uint32_t offset,
                     BarrierUse use) override;

private:
  World &worldOf(const Cluster &cluster);
  CtaShadow *ownerOf(Warp &warp, Space space, uint32_t rank);
  void accessLanes(Warp &warp, Now &now, const LaneAccess &access);
  void synchronize(Warp &warp, const LaneAccess &access);
  void noteFootprint(World &world, const LaneAccess &access);
  void endWorld(World &world);

  const Machine &machine;
  Naming naming;
  ClusterCompare compare;
  std::atomic<Component> components{0};
  Footprint *const footprint; ///< the footprint of the grid, or null
  std::mutex mutex;           ///< guards worlds and footprint
  std::unordered_map<const Cluster *, std::unique_ptr<World>> worlds;
};

} // namespace tile::sim
