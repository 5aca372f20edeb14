// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/HappensBefore.h"

#include <algorithm>
#include <bit>

namespace tile::sim {

namespace {

WarpState &stateOf(Warp &warp) {
  return static_cast<WarpState &>(*warp.checkState);
}

Party partyOf(Warp &warp) {
  WarpState &state = stateOf(warp);
  return {state.knowledge, state.fences, warp.alive, warp.cta.linearId, state.cluster.number, warp.cta.cluster.gpu};
}

} // namespace

std::unique_ptr<Checker> makeHappensBefore(const Machine &machine, Footprint *footprint) {
  return std::make_unique<HappensBefore>(machine, footprint);
}

HappensBefore::~HappensBefore() = default;

Component HappensBefore::addComponent(std::string what) {
  Component component = components.fetch_add(1, std::memory_order_relaxed);
  naming.addComponent(component, std::move(what));
  return component;
}

/// Clusters that cannot communicate have a World each; otherwise all clusters share one, under the null key.
World &HappensBefore::worldOf(const Cluster &cluster) {
  std::lock_guard lock(mutex);
  std::unique_ptr<World> &world = worlds[machine.communicates() ? nullptr : &cluster];
  if (!world)
    world = std::make_unique<World>(naming);
  return *world;
}

void HappensBefore::startCta(Cta &cta) {
  World &world = worldOf(cta.cluster);
  std::unique_ptr<ClusterShadows> &cluster = world.clusters[&cta.cluster];
  if (!cluster) {
    cluster = std::make_unique<ClusterShadows>();
    cluster->number = cta.linearId;
  }
  cluster->number = std::min<uint32_t>(cluster->number, cta.linearId);
  if (cluster->ctas.size() <= cta.rank)
    cluster->ctas.resize(cta.rank + 1);
  cluster->ctas[cta.rank] = std::make_unique<CtaShadow>();
  cluster->ctas[cta.rank]->cta = &cta;
  ++cluster->alive;
  world.locations.beginCta(cta.linearId);
  for (const auto &warp : cta.warps) {
    uint32_t number = naming.warpNumber(*warp);
    WarpName &name = world.names[number];
    name.program = components.fetch_add(1, std::memory_order_relaxed);
    warp->checkState = std::make_unique<WarpState>(world, *cluster, number, name, components);
  }
}

void HappensBefore::endCta(Cta &cta) {
  WarpState &state = stateOf(*cta.warps.front());
  World &world = state.world;
  ClusterShadows &cluster = state.cluster;
  world.endCta(*cluster.ctas[cta.rank]);
  for (const auto &warp : cta.warps) {
    warp->checkState = nullptr;
    // A warp's name is no longer needed if its lanes have never had separate components.
    if (auto name = world.names.find(naming.warpNumber(*warp)); name->second.split.empty())
      world.names.erase(name);
    else
      name->second.split.shrink_to_fit();
  }
  if (--cluster.alive)
    return;
  uint32_t number = cluster.number;
  world.clusters.erase(&cta.cluster);
  if (machine.communicates())
    return;
  compare.merge(number, world.global);
  std::lock_guard lock(mutex);
  endWorld(world);
  worlds.erase(&cta.cluster);
}

/// Saves the data that must outlive a world. The caller holds the mutex, or is the only thread.
void HappensBefore::endWorld(World &world) {
  if (footprint)
    footprint->join(world.footprint);
}

void HappensBefore::endGrid() {
  for (const auto &[cluster, world] : worlds)
    endWorld(*world);
  worlds.clear();
  Findings findings(naming);
  Manner manner;
  compare.forConflicts([&](const ClusterCompare::Conflict &conflict) {
    auto deedOf = [&](const ClusterCompare::Toucher &toucher) {
      manner.kind = unsigned(toucher.kind);
      return Deed{toucher.warp, toucher.line, toucher.lane, 0, manner};
    };
    findings.conflict(deedOf(conflict.second), deedOf(conflict.first), {}, {Space::Global, conflict.address, -1},
                      Order::Unordered);
  });
}

CtaShadow *HappensBefore::ownerOf(Warp &warp, Space space, uint32_t rank) {
  if (space == Space::Global)
    return nullptr;
  CtaShadow *owner = stateOf(warp).cluster.ctas[rank].get();
  owner->touchedByPeers |= rank != warp.cta.rank;
  return owner;
}

void HappensBefore::access(Warp &warp, const LaneAccess &access) {
  WarpState &state = stateOf(warp);
  bool strong = access.order != MemoryOrder::Weak || access.kind == AccessKind::Atomic;
  // Each store gets a new epoch, so two lanes that write the same byte do so either in the same store or in different
  // epochs.
  if (access.kind != AccessKind::Read)
    ++state.knowledge.count;
  Now now{.warp = state, .past = {}, .manner = {}};
  now.manner.kind = unsigned(access.kind);
  now.manner.strong = strong;
  now.manner.scope = unsigned(access.scope);
  now.past.component = state.knowledge.name.program;
  now.past.count = state.knowledge.count;
  now.past.warp = state.knowledge.number;
  now.past.set(access.instruction->loc.ptxLine, {});
  now.whole = (warp.alive & ~access.lanes) == 0;
  now.bytes = access.bytes;
  now.access = &access;
  accessLanes(warp, now, access);
  if (strong)
    synchronize(warp, access);
  if (footprint)
    noteFootprint(state.world, access);
}

/// Adds an access to the footprint. Loads and stores that have a memory order are accesses to flags; they count as
/// synchronization, not as data.
void HappensBefore::noteFootprint(World &world, const LaneAccess &access) {
  const bool isAtomic = access.kind == AccessKind::Atomic, strong = isAtomic || access.order != MemoryOrder::Weak;
  forLanes(access.lanes, [&](unsigned lane) {
    if (access.space[lane] != Space::Global)
      return;
    if (!strong || isAtomic)
      world.footprint.add(access.kind, access.address[lane], access.bytes);
    if (strong && access.scope != Scope::Cta)
      world.footprint.addSynchronized(access.address[lane]);
  });
}

/// Treats consecutive lanes that access consecutive addresses as one access to a range of memory.
void HappensBefore::accessLanes(Warp &warp, Now &now, const LaneAccess &access) {
  World &world = now.warp.world;
  unsigned bytes = access.bytes;
  bool joins = std::has_single_bit(bytes) && bytes <= cellBytes;
  uint8_t shift = joins ? std::countr_zero(bytes) : 4;
  for (unsigned first = 0; first < warpSize; ++first) {
    if (!(access.lanes >> first & 1))
      continue;
    Space space = access.space[first];
    if (space != Space::Global && space != Space::Shared)
      continue;
    uint64_t address = access.address[first];
    auto follows = [&](unsigned lane, uint64_t expected) {
      return lane < warpSize && (access.lanes >> lane & 1) && access.space[lane] == space &&
             access.address[lane] == expected &&
             (space == Space::Global || access.ctaRank[lane] == access.ctaRank[first]);
    };
    unsigned last = first;
    bool broadcast = access.kind == AccessKind::Read && now.whole && follows(first + 1, address);
    if (broadcast)
      while (follows(last + 1, address))
        ++last;
    else if (joins)
      while (follows(last + 1, address + uint64_t(last + 1 - first) * bytes))
        ++last;
    LaneMask mask = last - first == warpSize - 1 ? allLanes : ((LaneMask(1) << (last - first + 1)) - 1) << first;
    if (!now.warp.knowledge.isUniform(mask)) {
      last = first;
      broadcast = false;
    }
    now.lane = first;
    now.owner = ownerOf(warp, space, access.ctaRank[first]);
    uint64_t size = broadcast ? bytes : uint64_t(last - first + 1) * bytes;
    world.touch(now, address, size, [&](uint64_t cellAddress) {
      if (broadcast)
        return LaneMap{0, LaneMap::everyLane};
      if (last == first)
        return LaneMap{uint8_t(first), 4};
      int64_t lanesBefore = (int64_t(cellAddress) - int64_t(address)) >> shift;
      return LaneMap{uint8_t((first + lanesBefore) & (warpSize - 1)), shift};
    });
    first = last;
  }
}

void HappensBefore::synchronize(Warp &warp, const LaneAccess &access) {
  Party party = partyOf(warp);
  forLanes(access.lanes, [&](unsigned lane) {
    if (access.space[lane] != Space::Global && access.space[lane] != Space::Shared)
      return;
    uint64_t key = access.address[lane];
    if (access.space[lane] == Space::Shared) // global addresses are at least 1 << 40
      key |= (uint64_t(1) << 63) | uint64_t(stateOf(warp).cluster.ctas[access.ctaRank[lane]]->cta->linearId) << 32;
    stateOf(warp).world.locations.access(party, lane, key, access.kind, access.order, access.scope);
  });
}

void HappensBefore::asyncAccess(Warp &warp, unsigned lane, const SourceLoc &loc, AccessKind kind, const Range &range,
                                bool proxy, Epoch finished) {
  WarpState &state = stateOf(warp);
  Now now{.warp = state, .past = {}, .manner = {}};
  now.manner.kind = unsigned(kind);
  now.manner.strong = kind == AccessKind::Atomic;
  now.manner.scope = unsigned(Scope::Gpu);
  now.manner.async = true;
  now.manner.proxy = proxy;
  now.past.component = finished.component;
  now.past.count = finished.count;
  now.past.warp = state.knowledge.number;
  LaneMap lanes{uint8_t(lane), 4};
  now.past.set(loc.ptxLine, lanes);
  now.lane = lane;
  now.bytes = range.bytes;
  now.owner = ownerOf(warp, range.space, range.ctaRank);
  state.world.touch(now, range.address, range.bytes, [&](uint64_t) { return lanes; });
  if (footprint && range.space == Space::Global)
    state.world.footprint.add(kind, range.address, range.bytes);
  if (!now.owner || !proxy)
    return;
  // The end of the CTA is checked against the last epoch of each component.
  auto &pending = now.owner->pending;
  for (auto it = pending.rbegin(); it != pending.rend(); ++it)
    if (it->past.component == finished.component) {
      if (it->past.count < finished.count)
        *it = {now.past, now.manner, range.address};
      return;
    }
  pending.push_back({now.past, now.manner, range.address});
}

void HappensBefore::release(Warp &warp, SyncClock &into, LaneMask lanes) {
  stateOf(warp).knowledge.release(into, lanes, warp.alive);
}

void HappensBefore::acquire(Warp &warp, const SyncClock &from, LaneMask lanes) {
  stateOf(warp).knowledge.acquire(from, lanes, warp.alive);
}

void HappensBefore::raise(Warp &warp, Epoch epoch, LaneMask lanes, bool collective) {
  stateOf(warp).knowledge.raise(epoch, lanes & warp.alive, collective);
}

void HappensBefore::releaseEpoch(Epoch epoch, SyncClock &into) {
  into.all.raise(epoch);
  into.tensor.raise(epoch);
}

void HappensBefore::tensorAccess(Warp &warp, const TensorAccess &access) {
  WarpState &state = stateOf(warp);
  const bool isAsync = access.finished.component != noComponent;
  Now now{.warp = state, .past = {}, .manner = {}};
  now.manner.kind = unsigned(access.kind);
  now.manner.async = isAsync;
  now.past.component = isAsync ? access.finished.component : state.knowledge.name.program;
  now.past.count = isAsync ? access.finished.count : ++state.knowledge.count;
  now.past.warp = state.knowledge.number;
  const LaneMap lanes = access.isCollective ? LaneMap{0, LaneMap::everyLane} : LaneMap{uint8_t(access.lane), 4};
  now.past.set(access.loc.ptxLine, lanes);
  now.lane = access.lane;
  now.bytes = access.range.bytes;
  now.owner = ownerOf(warp, Space::Tensor, access.range.ctaRank);
  now.isTensor = true;
  now.isPipelined = access.isPipelined;
  now.needsTensorFence = machine.program.usesTensorFences && isAsync; // alloc and dealloc wait for no other operation
  state.world.touch(now, access.range.address, access.range.bytes, [&](uint64_t) { return lanes; });
  if (access.isAllocation)
    for (uint64_t at = access.range.address; at < access.range.address + access.range.bytes; at += cellBytes)
      now.owner->tensorMemory.cell(at).initialized = 0;
}

void HappensBefore::releaseTensor(Warp &warp, SyncClock &into) {
  into.tensor.join(stateOf(warp).knowledge.tensor.published);
}

void HappensBefore::acquireTensor(Warp &warp, const SyncClock &from) {
  stateOf(warp).knowledge.tensor.acquired.join(from.tensor);
}

void HappensBefore::fenceTensor(Warp &warp, bool isBefore) {
  stateOf(warp).knowledge.fenceTensor(isBefore);
}

bool HappensBefore::knows(Warp &warp, unsigned lane, Epoch epoch) {
  const Knowledge &knowledge = stateOf(warp).knowledge;
  const Past past{epoch.component, epoch.count, knowledge.number, 0};
  return knowledge.tensor.known.includes(epoch) || knowledge.knows(past, nullptr, warpSize, lane, false);
}

bool HappensBefore::hasMet(Warp &warp, const Cta &peer) {
  WarpState &state = stateOf(warp);
  SyncClock known;
  state.knowledge.collect(known);
  for (const auto &other : peer.warps) {
    auto name = state.world.names.find(naming.warpNumber(*other));
    if (name == state.world.names.end() || known.all[name->second.program])
      return true;
    for (const WarpName::Split &split : name->second.split)
      if (known.all[split.own])
        return true;
  }
  return false;
}

void HappensBefore::fenceAsync(Warp &warp, LaneMask lanes) {
  stateOf(warp).knowledge.fenceAsync(lanes, warp.alive);
}

void HappensBefore::fenceBarrierInit(Warp &warp, LaneMask lanes) {
  WarpState &state = stateOf(warp);
  for (auto &[offset, init] : state.cluster.ctas[warp.cta.rank]->barriers)
    if (init.warp == state.knowledge.number && (init.lanes & lanes))
      init.fenced = true;
}

void HappensBefore::fence(Warp &warp, Scope scope, LaneMask lanes) {
  stateOf(warp).world.locations.fence(partyOf(warp), scope, lanes & warp.alive);
}

void HappensBefore::syncLanes(Warp &warp, LaneMask mask) {
  stateOf(warp).knowledge.meet(mask & warp.alive, warp.alive);
}

void HappensBefore::barrierAccess(Warp &warp, LaneMask lanes, const SourceLoc &loc, Cta &cta, uint32_t offset,
                                  BarrierUse use) {
  WarpState &state = stateOf(warp);
  CtaShadow &owner = *ownerOf(warp, Space::Shared, cta.rank);
  bool isUse = use == BarrierUse::Use || use == BarrierUse::AsyncUse;
  // A commit arrives later, as a copy does, but does not use the async proxy.
  const bool isCommit = use == BarrierUse::AsyncUse && naming.operation(loc.ptxLine) == "tcgen05.commit";
  Now now{.warp = state, .past = {}, .manner = {}};
  if (!isUse)
    ++state.knowledge.count;
  now.manner.kind = unsigned(isUse ? AccessKind::Atomic : AccessKind::Write);
  now.manner.strong = isUse;
  now.manner.scope = unsigned(Scope::Gpu);
  now.manner.proxy = use == BarrierUse::AsyncUse;
  now.past.component = state.knowledge.name.program;
  now.past.count = state.knowledge.count;
  now.past.warp = state.knowledge.number;
  now.past.set(loc.ptxLine, {});
  now.barrier = true;
  now.owner = &owner;
  if (auto init = owner.barriers.find(offset); init != owner.barriers.end())
    now.fenced = init->second.fenced || isCommit;
  lanes &= warp.alive;
  if (isUse && lanes == warp.alive && std::popcount(lanes) > 1 && state.knowledge.isUniform(lanes)) {
    now.lane = firstLane(lanes);
    now.whole = true;
    state.world.touch(now, offset, 8, [&](uint64_t) { return LaneMap{0, LaneMap::everyLane}; });
  } else {
    forLanes(lanes, [&](unsigned lane) {
      now.lane = lane;
      state.world.touch(now, offset, 8, [&](uint64_t) { return LaneMap{uint8_t(lane), 4}; });
    });
  }
  Cell &cell = owner.memory.cell(offset);
  unsigned half = offset / 8 % 2;
  if (use == BarrierUse::Init) {
    cell.barriers |= 1u << half;
    owner.barriers[offset] = {state.knowledge.number, lanes, loc.ptxLine, false};
  } else if (use == BarrierUse::Invalidate) {
    cell.barriers &= ~(1u << half);
    cell.initialized &= ~byteMask(half * 8, 8);
    owner.barriers.erase(offset);
  }
}

} // namespace tile::sim
