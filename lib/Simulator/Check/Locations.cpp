// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Locations.h"

#include <algorithm>

namespace tile::sim {

namespace {

bool acquires(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
}
bool releases(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
}

} // namespace

/// Returns true if the scope of each of the two threads includes the other (PTX ISA 8.7.1, morally strong).
bool SyncLocations::reaches(const Released &released, const Party &party, Scope scope) {
  switch (std::min(released.scope, scope)) {
  case Scope::Cta:
    return released.cta == party.cta;
  case Scope::Cluster:
    return released.cluster == party.cluster;
  case Scope::Gpu:
    return released.gpu == party.gpu;
  default:
    return true;
  }
}

void SyncLocations::read(Party &party, unsigned lane, const Location &location, MemoryOrder order, Scope scope) {
  for (const Released &released : location) {
    if (!reaches(released, party, scope))
      continue;
    released.clock.read([&](const SyncClock &clock) {
      if (acquires(order)) {
        party.knowledge.acquire(clock, LaneMask(1) << lane, party.alive);
      } else {
        party.fences.pending.join(clock);
        party.fences.pendingLanes |= LaneMask(1) << lane;
      }
    });
  }
}

SyncLocations::Released &SyncLocations::entry(Location &location, const Party &party, unsigned lane, Scope scope) {
  for (Released &released : location)
    if (released.scope == scope && released.cta == party.cta) {
      released.warp = party.knowledge.number;
      released.lane = uint8_t(lane);
      return released;
    }
  constexpr size_t many = 32;
  if (location.size() >= many)
    mergeEnded(location);
  location.push_back({party.cta, party.cluster, party.gpu, party.knowledge.number, uint8_t(lane), scope, {}});
  return location.back();
}

/// Merges the releases of threads that have ended. Such threads do not release again, and a counter that all thread
/// blocks of a grid increment would otherwise have one entry for each of them.
void SyncLocations::mergeEnded(Location &location) const {
  Released *first = nullptr;
  std::erase_if(location, [&](Released &released) {
    if (released.scope < Scope::Gpu || live.contains(released.cta) || (first && first->gpu != released.gpu))
      return false;
    if (!first) {
      first = &released;
      return false;
    }
    released.clock.read([&](const SyncClock &other) { first->clock.edit([&](SyncClock &all) { all.join(other); }); });
    first->scope = std::max(first->scope, released.scope);
    return true;
  });
}

/// Records a write of a lane. A store ends the release sequences of other threads at this location (`replaces`). A
/// read-modify-write continues them, and a store by the releasing thread continues its own.
void SyncLocations::write(Party &party, unsigned lane, uint64_t key, bool replaces, MemoryOrder order, Scope scope) {
  FenceState::Snapshot *fenced = nullptr;
  for (FenceState::Snapshot &snapshot : party.fences.released)
    if (snapshot.lanes >> lane & 1)
      fenced = &snapshot;
  auto found = locations.find(key);
  if (found == locations.end() && !releases(order) && !fenced)
    return;
  Location &location = found == locations.end() ? locations[key] : found->second;
  if (replaces)
    std::erase_if(location, [&](const Released &released) {
      return released.warp != party.knowledge.number || released.lane != lane;
    });
  if (releases(order))
    entry(location, party, lane, scope).clock.edit([&](SyncClock &clock) {
      party.knowledge.release(clock, LaneMask(1) << lane, party.alive);
    });
  else if (fenced)
    entry(location, party, lane, std::min(scope, fenced->scope)).clock.edit([&](SyncClock &clock) {
      clock.join(fenced->clock);
    });
}

void SyncLocations::access(Party party, unsigned lane, uint64_t key, AccessKind kind, MemoryOrder order, Scope scope) {
  if (kind != AccessKind::Write && !locations.empty())
    if (auto found = locations.find(key); found != locations.end())
      read(party, lane, found->second, order, scope);
  if (kind != AccessKind::Read)
    write(party, lane, key, kind == AccessKind::Write, order, scope);
}

void SyncLocations::fence(Party party, Scope scope, LaneMask lanes) {
  FenceState &fences = party.fences;
  if (LaneMask pending = lanes & fences.pendingLanes) {
    party.knowledge.acquire(fences.pending, pending, party.alive);
    fences.pendingLanes &= ~pending;
    if (!fences.pendingLanes)
      fences.pending = {};
  }
  for (FenceState::Snapshot &snapshot : fences.released)
    snapshot.lanes &= ~lanes;
  std::erase_if(fences.released, [](const FenceState::Snapshot &snapshot) { return !snapshot.lanes; });
  fences.released.push_back({lanes, scope, {}});
  party.knowledge.release(fences.released.back().clock, lanes, party.alive);
}

} // namespace tile::sim
