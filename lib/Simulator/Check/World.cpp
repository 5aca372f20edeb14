// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/World.h"

#include <cstring>

namespace tile::sim {

namespace {

int32_t laneAt(const Past &past, unsigned byte) {
  LaneMap lanes = past.lanes();
  return lanes.isEveryLane() ? -1 : int32_t(lanes.lane(byte));
}

/// Returns the first lane of the instruction that accesses this byte in the same CTA's memory as `lane`.
int32_t firstLaneAt(const LaneAccess &access, uint64_t address, unsigned lane) {
  unsigned first = 0;
  while (first != lane && !(access.lanes >> first & 1 && access.ctaRank[first] == access.ctaRank[lane] &&
                            address - access.address[first] < access.bytes))
    ++first;
  return int32_t(first);
}

/// The masks of the two halves of a cell.
constexpr ByteMask halves[2] = {0x00ff, 0xff00};

} // namespace

Findings::Site World::site(const Now &now, uint64_t address) const {
  if (!now.owner)
    return {Space::Global, address, -1};
  bool own = naming.ctaOf(now.past.warp) == now.owner->cta->linearId;
  return {now.isTensor ? Space::Tensor : Space::Shared, address, own ? -1 : int(now.owner->cta->rank)};
}

Deed World::deed(const Now &now, unsigned byte) const {
  int32_t lane = laneAt(now.past, byte);
  return {now.past.warp, now.past.line(), lane < 0 ? int32_t(now.lane) : lane, now.bytes, now.manner};
}

/// Returns true if two accesses need no order: both are reads, or both are strong and each scope includes the other
/// thread (PTX ISA 8.7.1).
bool World::mayMeet(const Now &now, const Past &past, Manner manner) const {
  if (!now.manner.writes() && !manner.writes())
    return true;
  if (!now.manner.strong || !manner.strong)
    return false;
  const Scope scope = std::min(Scope(now.manner.scope), Scope(manner.scope));
  if (scope == Scope::Cta)
    return naming.ctaOf(now.past.warp) == naming.ctaOf(past.warp);
  return scope == Scope::System || naming.gpuOf(now.past.warp) == naming.gpuOf(past.warp);
}

bool World::sameInstruction(const Now &now, const Past &past, Manner manner) const {
  return past.warp == now.past.warp && past.count == now.past.count && past.line() == now.past.line() &&
         now.manner == manner && !manner.async && now.access;
}

/// Returns true if the lane of `now` that accesses this byte knows the record's action. Program order counts only for
/// actions of the same lane.
bool World::knows(const Now &now, const Past &past, Manner manner, unsigned byte, bool fenced) {
  LaneMap lanes = past.lanes(), nowLanes = now.past.lanes();
  unsigned lane = nowLanes.isEveryLane() ? now.lane : nowLanes.lane(byte);
  unsigned pastLane = lanes.isEveryLane() ? warpSize : lanes.lane(byte);
  if (!manner.async && !fenced && past.warp == now.past.warp) {
    // If all lanes wrote the same value, each lane reads the value that it wrote itself. An access by all lanes follows
    // an earlier one by all lanes in each lane's program order.
    bool own = lanes.isEveryLane() ? nowLanes.isEveryLane() || (manner.writes() && !now.manner.writes())
                                   : !nowLanes.isEveryLane() && lane == pastLane;
    if (own)
      return true;
  }
  const WarpName *name = nullptr;
  if (pastLane < warpSize)
    if (auto found = names.find(past.warp); found != names.end())
      name = &found->second;
  return now.warp.knowledge.knows(past, name, pastLane, lane, fenced);
}

Order World::order(const Now &now, const Past &past, Manner manner, ByteMask overlap, unsigned &byte) {
  if (now.isTensor) {
    byte = std::countr_zero(overlap);
    return tensorOrder(now, past, manner, byte);
  }
  bool needsFence = now.manner.proxy && !now.fenced && !manner.proxy && manner.writes();
  const Knowledge &knowledge = now.warp.knowledge;
  byte = std::countr_zero(overlap);
  if (knowledge.allKnow(past, needsFence) && (!needsFence || knowledge.allKnow(past, false)))
    return Order::Ordered;
  bool ownLanes = past.warp == now.past.warp && past.lanes() == now.past.lanes() && !past.lanes().isEveryLane();
  if (ownLanes && !manner.async && !needsFence)
    return Order::Ordered;
  const LaneMap lanes = past.lanes(), nowLanes = now.past.lanes();
  int known = -1; // the previous byte, which was found to be ordered; -1 for the first byte
  for (ByteMask remaining = overlap; remaining; remaining &= remaining - 1) {
    unsigned candidate = std::countr_zero(remaining);
    if (known >= 0 && lanes.lane(known) == lanes.lane(candidate) && nowLanes.lane(known) == nowLanes.lane(candidate))
      continue; // the same lanes, hence the same order
    known = int(candidate);
    if (!knows(now, past, manner, candidate, false)) {
      byte = candidate;
      return Order::Unordered;
    }
    if (needsFence && !knows(now, past, manner, candidate, true)) {
      byte = candidate;
      return Order::NotFenced;
    }
  }
  return Order::Ordered;
}

/// Returns how an access to tensor memory is ordered after an earlier one: by the warp's waits and by tcgen05.fence.
Order World::tensorOrder(const Now &now, const Past &past, Manner manner, unsigned byte) {
  if (now.isPipelined && manner.async && past.component == now.past.component)
    return Order::Ordered;
  const bool isOwn = past.warp == now.past.warp;
  if (now.warp.knowledge.tensor.known.includes({past.component, past.count}) || (isOwn && !manner.async))
    return Order::Ordered;
  if (!knows(now, past, manner, byte, false))
    return Order::Unordered;
  return isOwn || !now.needsTensorFence || !manner.async ? Order::Ordered : Order::NotTensorFenced;
}

void World::report(const Now &now, const Past &past, Manner manner, unsigned byte, uint64_t cellAddress, Order order) {
  Deed earlier{past.warp, past.line(), laneAt(past, byte), 0, manner};
  if (now.barrier && now.manner.proxy && order == Order::NotFenced)
    findings.barrierNotFenced(deed(now, byte), earlier, site(now, cellAddress + byte));
  else
    findings.conflict(deed(now, byte), earlier, {past.component, past.count}, site(now, cellAddress + byte), order);
}

/// Returns true if a store does not change memory. Threads may all write the same value, in any order.
bool World::writesSameValue(const Now &now, ByteMask overlap, uint64_t cellAddress) {
  if (!now.access || !now.access->values)
    return false;
  const LaneAccess &access = *now.access;
  std::byte *memory = nullptr;
  if (now.owner)
    memory = now.owner->cta->shared(sharedBase + cellAddress, 1);
  else if (const Allocation *allocation = naming.machine.memory.find(cellAddress, 1))
    memory = allocation->host + (cellAddress - allocation->address);
  for (; memory && overlap; overlap &= overlap - 1) {
    unsigned byte = std::countr_zero(overlap);
    int32_t lane = laneAt(now.past, byte);
    if (lane < 0 || access.values[lane * access.bytes + (cellAddress + byte - access.address[lane])] != memory[byte])
      return false;
  }
  return memory != nullptr;
}

/// Reports lanes of one store that write different values to the same byte; writing the same value is allowed.
void World::checkValues(const Now &now, const Past &past, ByteMask overlap, uint64_t cellAddress) {
  const LaneAccess &access = *now.access;
  if (!access.values)
    return;
  for (; overlap; overlap &= overlap - 1) {
    unsigned byte = std::countr_zero(overlap);
    int32_t lane = laneAt(now.past, byte);
    if (lane < 0)
      continue;
    int32_t other = past.lanes().isEveryLane() ? firstLaneAt(access, cellAddress + byte, lane) : laneAt(past, byte);
    auto value = [&](unsigned lane) {
      return access.values[lane * access.bytes + (cellAddress + byte - access.address[lane])];
    };
    if (value(other) != value(lane))
      return findings.sameInstruction(deed(now, byte), other, site(now, cellAddress + byte));
  }
}

/// Reports a non-coherent read of memory that the kernel has written. Even if the read is ordered after the write, it
/// may hit a stale cache line: PTX ISA, "ld", allows .nc only for memory that is not written while the kernel runs.
void World::checkCoherence(const Now &now, const Past &past, Manner manner, ByteMask overlap, uint64_t cellAddress) {
  unsigned byte = 0;
  if (manner.writes() && order(now, past, manner, overlap, byte) == Order::Ordered)
    findings.staleRead(deed(now, byte), {past.warp, past.line(), laneAt(past, byte), 0, manner},
                       site(now, cellAddress + byte));
}

void World::checkInitialized(Cell &cell, uint64_t cellAddress, ByteMask mask, const Now &now) {
  unsigned byte = std::countr_zero(ByteMask(mask & ~cell.initialized));
  uint64_t address = cellAddress + byte;
  cell.initialized |= mask;
  if (!now.owner) {
    if (!lastAllocation || address < lastAllocation->address || address >= lastAllocation->end())
      lastAllocation = naming.machine.memory.find(address, 1);
    if (lastAllocation && lastAllocation->initialized)
      return;
  }
  findings.uninitialized(deed(now, byte), site(now, address));
}

void World::checkBarrier(const Cell &cell, uint64_t cellAddress, ByteMask mask, const Now &now) {
  for (unsigned half = 0; half < 2; ++half)
    if ((cell.barriers >> half & 1) && (mask & halves[half]))
      findings.barrierAsData(deed(now, std::countr_zero(ByteMask(mask & halves[half]))),
                             site(now, cellAddress + half * 8), false);
}

/// Reports an access that conflicts with an earlier one. Returns true if both records must be kept: for example, if
/// both accesses write the same value, a reader may be ordered after either of them.
bool World::checkConflict(Shadow &shadow, Cell &cell, uint64_t cellAddress, ByteMask mask, Now &now, ByteMask &pastMask,
                          Manner manner, Past &past, bool &recorded) {
  ByteMask overlap = pastMask & mask;
  if (sameInstruction(now, past, manner)) {
    checkValues(now, past, overlap, cellAddress);
    if (now.whole && pastMask == mask) {
      past.set(past.line(), {0, LaneMap::everyLane});
      recorded = true;
    }
    return true;
  }
  unsigned byte = 0;
  Order found = order(now, past, manner, overlap, byte);
  if (found == Order::Ordered)
    return false;
  if (found == Order::Unordered && !manner.async && !manner.strong && writesSameValue(now, overlap, cellAddress))
    return true;
  bool readsWrite = !now.manner.writes() && manner.writes() && !manner.async && !manner.strong;
  if (found == Order::Unordered && readsWrite && (overlap & ~knownWrites(shadow, cell, mask, now)) == 0)
    return true;
  report(now, past, manner, byte, cellAddress, found);
  return false;
}

/// Returns the bytes for which the access is ordered after some write; several threads may have written the same value.
ByteMask World::knownWrites(Shadow &shadow, Cell &cell, ByteMask mask, const Now &now) {
  ByteMask known = 0;
  shadow.forRecords(cell, mask, nullptr, [&](ByteMask &pastMask, Manner &manner, Past &past) {
    unsigned byte = 0;
    bool isPlain = manner.accessKind() == AccessKind::Write && !manner.async && !manner.strong;
    if (isPlain && order(now, past, manner, pastMask & mask, byte) == Order::Ordered)
      known |= pastMask;
    return true;
  });
  return known;
}

/// Records the stored values. They are used to compare clusters, each of which has a separate shadow.
void World::noteValues(uint64_t cellAddress, ByteMask mask, const Now &now) {
  std::unique_ptr<Shadow::Values> &values = global.page(cellAddress >> Shadow::pageShift).values;
  if (!values)
    values = std::make_unique<Shadow::Values>();
  const LaneAccess *access = now.access && now.access->values ? now.access : nullptr;
  for (; mask; mask &= mask - 1) {
    unsigned byte = std::countr_zero(mask);
    int32_t lane = access ? laneAt(now.past, byte) : -1;
    std::optional<uint8_t> stored;
    if (lane >= 0)
      stored = uint8_t(access->values[lane * access->bytes + (cellAddress + byte - access->address[lane])]);
    values->note((cellAddress + byte) & ((1u << Shadow::pageShift) - 1), stored);
  }
}

void World::touchCell(Shadow &shadow, uint64_t cellAddress, ByteMask mask, Now &now) {
  Cell &cell = shadow.cell(cellAddress);
  if (cell.barriers && !now.barrier)
    checkBarrier(cell, cellAddress, mask, now);
  bool writes = now.manner.writes();
  if (now.manner.accessKind() != AccessKind::Write && (mask & ~cell.initialized) && !now.barrier)
    checkInitialized(cell, cellAddress, mask, now);
  if (writes)
    cell.initialized |= mask;
  if (!now.owner && now.manner.accessKind() == AccessKind::Write)
    noteValues(cellAddress, mask, now);
  Shadow::Entry free;
  bool recorded = false;
  shadow.forRecords(cell, mask, &free, [&](ByteMask &pastMask, Manner &manner, Past &past) {
    ByteMask overlap = pastMask & mask;
    if (now.access && now.access->isNonCoherent)
      checkCoherence(now, past, manner, overlap, cellAddress);
    bool sameDeed = past.warp == now.past.warp && past.component == now.past.component &&
                    past.count == now.past.count && manner == now.manner && past.line() == now.past.line();
    if (sameDeed && past.lineAndLanes == now.past.lineAndLanes) {
      recorded = (mask & ~pastMask) == 0 || recorded;
      return !recorded; // a repetition of the same access changes nothing
    }
    if (sameDeed && !writes && now.whole && !manner.async) { // a broadcast read
      past.set(past.line(), {0, LaneMap::everyLane});
      pastMask |= mask;
      recorded = true;
      return true;
    }
    if (!mayMeet(now, past, manner)) {
      bool isKept = checkConflict(shadow, cell, cellAddress, mask, now, pastMask, manner, past, recorded);
      // Both records are kept if the earlier access is weak and this one is strong: a later access may conflict with
      // the weak access only.
      if (writes && !isKept && (manner.strong || !now.manner.strong))
        pastMask &= ~mask;
      return true;
    }
    unsigned byte = 0;
    // There is no conflict. The earlier record is dropped if every later access that conflicts with it also conflicts
    // with this access.
    bool stands = writes || !manner.writes();
    bool covers = manner.async && now.manner.async && past.component == now.past.component &&
                  past.count <= now.past.count && past.lineAndLanes >> 3 == now.past.lineAndLanes >> 3;
    if (stands && (manner.strong || !now.manner.strong) &&
        (covers || order(now, past, manner, overlap, byte) == Order::Ordered))
      pastMask &= ~mask;
    return true;
  });
  if (!recorded)
    shadow.add(cell, free, mask, now.manner, now.past);
}

/// Returns true if the clock includes an action that only this lane has released.
bool World::knowsLane(const VectorClock &clock, const Past &past, unsigned lane) const {
  auto name = names.find(past.warp);
  if (name == names.end())
    return false;
  const Component own = name->second.ofLane(past.component, lane);
  return own != noComponent && clock[own] >= past.count;
}

/// Checks that all users of the CTA's shared memory have finished before it is freed: asynchronous operations and
/// accesses by other CTAs of the cluster.
void World::endCta(CtaShadow &shadow) {
  const Cta &cta = *shadow.cta;
  locations.endCta(cta.linearId);
  SyncClock end;
  for (const auto &warp : cta.warps)
    static_cast<WarpState &>(*warp->checkState).knowledge.collect(end);
  for (const CtaShadow::Pending &pending : shadow.pending)
    if (end.all[pending.past.component] < pending.past.count &&
        !knowsLane(end.all, pending.past, pending.past.lanes().lane(0)))
      findings.unfinishedAtExit({pending.past.warp, pending.past.line(), laneAt(pending.past, 0), 0, pending.manner},
                                {pending.past.component, pending.past.count},
                                {Space::Shared, pending.address, int(cta.rank)});
  if (!shadow.touchedByPeers)
    return;
  for (const auto &[number, page] : shadow.memory.touchedPages())
    for (unsigned index = 0; index < Shadow::pageCells; ++index)
      shadow.memory.forRecords(
          page->cells[index], ByteMask(~0), nullptr, [&](ByteMask &mask, Manner &manner, Past &past) {
            unsigned byte = std::countr_zero(mask);
            bool foreign = !manner.async && !manner.proxy && naming.ctaOf(past.warp) != cta.linearId;
            if (foreign && end.all[past.component] < past.count) {
              int32_t lane = laneAt(past, byte);
              if (lane >= 0 && knowsLane(end.all, past, lane))
                return true;
              uint64_t address = (number << Shadow::pageShift) + index * cellBytes + byte;
              findings.remoteAtExit({past.warp, past.line(), lane, 0, manner}, {Space::Shared, address, int(cta.rank)},
                                    cta);
            }
            return true;
          });
}

} // namespace tile::sim
