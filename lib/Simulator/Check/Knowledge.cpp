// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Knowledge.h"

namespace tile::sim {

namespace {

bool isAll(LaneMask lanes, LaneMask alive) {
  return (alive & ~lanes) == 0;
}

} // namespace

Component Knowledge::laneComponent(Component component, unsigned lane) {
  Component own = name.ofLane(component, lane);
  if (own == noComponent) {
    own = components.fetch_add(1, std::memory_order_relaxed);
    name.split.push_back({component, lane, own});
  }
  return own;
}

/// Calls `function(part)` for parts whose union is exactly `lanes`; splits and adds parts where necessary.
template <typename Function> void Knowledge::forParts(LaneMask lanes, Function &&function) {
  LaneMask remaining = lanes;
  for (size_t i = 0, size = parts.size(); i < size; ++i) {
    LaneMask inside = parts[i].lanes & lanes;
    if (!inside)
      continue;
    if (inside != parts[i].lanes) {
      Part other{parts[i].lanes & ~lanes, parts[i].clock};
      parts[i].lanes = inside;
      parts.push_back(std::move(other));
    }
    function(parts[i]);
    remaining &= ~inside;
  }
  if (remaining) {
    parts.push_back({remaining, {}});
    function(parts.back());
  }
}

/// Releases everything that any of the lanes has waited for, and the actions of the lanes up to now.
void Knowledge::release(SyncClock &into, LaneMask lanes, LaneMask alive) {
  into.join(common);
  into.tensor.join(tensor.published);
  bool whole = isAll(lanes, alive);
  for (const Part &part : parts)
    if (whole || !lanes || (part.lanes & lanes))
      into.join(part.clock);
  if (whole) {
    into.all.raise({name.program, count});
    partsReleased = true;
    releasedAt = count;
  } else {
    forLanes(lanes, [&](unsigned lane) { into.all.raise({laneComponent(name.program, lane), count}); });
  }
  releaseOwnClock(into, lanes, alive);
  ++count;
}

/// Adds the operations that each of the lanes has waited for individually.
void Knowledge::releaseOwnClock(SyncClock &into, LaneMask lanes, LaneMask alive) {
  auto raise = [&](VectorClock &clock, Epoch epoch, LaneMask knowing) {
    if (isAll(knowing, alive))
      clock.raise(epoch);
    else
      forLanes(knowing, [&](unsigned lane) { clock.raise({laneComponent(epoch.component, lane), epoch.count}); });
  };
  for (const Own &known : own) {
    raise(into.all, known.epoch, lanes & known.lanes);
    if (LaneMask fenced = lanes & known.fenced)
      raise(into.fenced, known.epoch, fenced);
  }
}

void Knowledge::acquire(const SyncClock &from, LaneMask lanes, LaneMask alive) {
  tensor.acquired.join(from.tensor);
  if (isAll(lanes, alive)) {
    common.join(from);
    // If the lanes acquire from a barrier that the whole warp has passed, every lane acquires what all lanes have
    // released.
    if (partsReleased && from.all[name.program] >= releasedAt) {
      parts.clear();
      own.clear();
    }
    return;
  }
  forParts(lanes, [&](Part &part) { part.clock.join(from); });
  partsReleased = false;
}

void Knowledge::raise(Epoch epoch, LaneMask lanes, bool collective) {
  if (collective) {
    common.all.raise(epoch);
    tensor.known.raise(epoch);
    return;
  }
  std::erase_if(own, [&](const Own &known) {
    return known.epoch.component == epoch.component && known.epoch.count <= epoch.count && !(known.lanes & ~lanes) &&
           !known.fenced;
  });
  own.push_back({epoch, lanes});
  partsReleased = false;
}

void Knowledge::fenceAsync(LaneMask lanes, LaneMask alive) {
  for (Own &known : own)
    known.fenced |= lanes & known.lanes;
  if (isAll(lanes, alive)) {
    common.fenced.join(common.all);
    common.fenced.raise({name.program, count});
    for (Part &part : parts)
      part.clock.fenced.join(part.clock.all);
  } else {
    forParts(lanes, [&](Part &part) {
      part.clock.fenced.join(common.all);
      part.clock.fenced.join(part.clock.all);
      forLanes(part.lanes, [&](unsigned lane) { part.clock.fenced.raise({laneComponent(name.program, lane), count}); });
    });
    partsReleased = false;
  }
  ++count;
}

void Knowledge::fenceTensor(bool isBefore) {
  if (!isBefore) {
    tensor.known.join(tensor.acquired);
    return;
  }
  tensor.published.join(tensor.known);
  tensor.published.raise({name.program, count++});
}

void Knowledge::meet(LaneMask lanes, LaneMask alive) {
  if (isAll(lanes, alive)) {
    for (const Part &part : parts)
      common.join(part.clock);
    parts.clear();
    common.all.raise({name.program, count});
    releaseOwnClock(common, lanes, alive);
    own.clear();
  } else {
    SyncClock together;
    forParts(lanes, [&](Part &part) { together.join(part.clock); });
    forLanes(lanes, [&](unsigned lane) { together.all.raise({laneComponent(name.program, lane), count}); });
    releaseOwnClock(together, lanes, alive);
    std::erase_if(parts, [&](const Part &part) { return (part.lanes & lanes) != 0; });
    parts.push_back({lanes, std::move(together)});
    partsReleased = false;
  }
  ++count;
}

void Knowledge::collect(SyncClock &into) const {
  into.join(common);
  for (const Part &part : parts)
    into.join(part.clock);
  into.all.raise({name.program, count});
  for (const Own &known : own)
    into.all.raise(known.epoch);
}

bool Knowledge::includes(const VectorClock &clock, const Past &past, const WarpName *pastName, unsigned pastLane) {
  if (clock[past.component] >= past.count)
    return true;
  if (!pastName || pastLane >= warpSize)
    return false;
  const Component lane = pastName->ofLane(past.component, pastLane);
  return lane != noComponent && clock[lane] >= past.count;
}

bool Knowledge::knows(const Past &past, const WarpName *pastName, unsigned pastLane, unsigned lane, bool fenced) const {
  if (includes(fenced ? common.fenced : common.all, past, pastName, pastLane))
    return true;
  for (const Own &known : own)
    if (known.epoch.component == past.component && known.epoch.count >= past.count &&
        ((fenced ? known.fenced : known.lanes) >> lane & 1) && lane == pastLane)
      return true;
  // The knowledge of individual lanes may be split between the two clocks, but each fact is in one of them.
  for (const Part &part : parts)
    if (part.lanes >> lane & 1)
      return includes(fenced ? part.clock.fenced : part.clock.all, past, pastName, pastLane);
  return false;
}

bool Knowledge::isUniform(LaneMask lanes) const {
  for (const Part &part : parts)
    if ((part.lanes & lanes) != 0 && (lanes & ~part.lanes) != 0)
      return false;
  return true;
}

} // namespace tile::sim
