// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/StreamOrder.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tile::runtime;

namespace tile::sim {

namespace {

constexpr uintptr_t legacyStream = 1; // CUDA driver API, CU_STREAM_LEGACY

bool isDefault(CUstream stream) {
  return reinterpret_cast<uintptr_t>(stream) <= legacyStream;
}

/// Returns the first bytes that both lists contain.
std::optional<Stretch> overlap(const std::vector<Stretch> &a, const std::vector<Stretch> &b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Stretch both = {std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.begin < both.end)
      return both;
    ++(a[i].end < b[j].end ? i : j);
  }
  return std::nullopt;
}

} // namespace

StreamOrder::Line &StreamOrder::add(const Key &key, int device) {
  Line &line = lines[key];
  line.component = Component(lines.size());
  line.device = std::max(0, device);
  line.name = fmt::format("stream {} of device {}", lines.size(), device);
  return line;
}

void StreamOrder::create(CUstream stream, int device, bool isBlocking) {
  add({-1, stream, nullptr}, device).isBlocking = isBlocking;
}

StreamOrder::Line &StreamOrder::line(int device, CUstream stream, const void *graph) {
  device = std::max(0, device); // -1: no context is current
  if (isDefault(stream))
    stream = nullptr;
  const Key key = {stream ? -1 : device, stream, graph};
  if (const auto found = lines.find(key); found != lines.end())
    return found->second;
  Line &made = add(key, device);
  if (!stream)
    made.name = fmt::format("the default stream of device {}", device);
  if (graph) {
    made.name = fmt::format("a graph captured from {}", line(device, stream).name);
    made.isBlocking = false; // whether the graph blocks depends on the stream that launches it
  }
  return made;
}

VectorClock StreamOrder::startOf(const Line &line) const {
  VectorClock clock = line.clock;
  clock.join(host);
  const auto found = lines.find({line.device, nullptr, nullptr});
  const Line *ofDevice = found == lines.end() ? nullptr : &found->second;
  for (const auto &[key, other] : lines)
    if (other.device == line.device && other.isBlocking && line.isBlocking && (&line == ofDevice || &other == ofDevice))
      clock.join(other.clock);
  return clock;
}

void StreamOrder::synchronizeDevice(int device) {
  for (const auto &[key, line] : lines)
    if (line.device == device)
      host.join(line.clock);
}

std::optional<StreamRace> StreamOrder::conflict(const Past &earlier, const Past &later) {
  constexpr AccessKind kinds[] = {AccessKind::Write, AccessKind::Read, AccessKind::Atomic};
  for (AccessKind a : kinds)
    for (AccessKind b : kinds)
      if (a != b || a == AccessKind::Write)
        if (const auto bytes = overlap(earlier.accesses[unsigned(a)], later.accesses[unsigned(b)]))
          return StreamRace{{earlier.name, a}, {later.name, b}, *bytes};
  return std::nullopt;
}

std::optional<StreamRace> StreamOrder::finish(const Place &place, const StreamOperation &operation,
                                              VectorClock *after) {
  constexpr size_t maxPast = 4096; // limits the memory for a program that never synchronizes
  Line &own = line(place.device, place.stream, place.graph);
  VectorClock clock = startOf(own);
  clock.join(place.before);
  std::erase_if(past, [&](const Past &one) { return host.includes(one.epoch); });
  const std::set<uint64_t> &words = operation.footprint.synchronized();
  const auto acquire = [&](uint64_t address) {
    if (const auto flag = flags.find(address); flag != flags.end())
      clock.join(flag->second);
    for (const Past &one : past) // copies and fills may write a flag, too
      if (overlap(one.accesses[unsigned(AccessKind::Write)], {{address, address + 1}}))
        clock.join(one.clock);
  };
  std::for_each(words.begin(), words.end(), acquire);
  if (operation.acquired)
    acquire(*operation.acquired);

  Past now = {fmt::format("{} in {}", operation.name, own.name), {own.component, ++own.count}, {}, {}};
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write, AccessKind::Atomic})
    now.accesses[unsigned(kind)] = operation.footprint.stretches(kind);
  std::optional<StreamRace> race;
  for (auto earlier = past.begin(); !race && earlier != past.end(); ++earlier)
    if (!clock.includes(earlier->epoch))
      race = conflict(*earlier, now);

  clock.raise(now.epoch);
  now.clock = clock;
  for (uint64_t address : words)
    flags[address].join(clock);
  if (operation.released)
    flags[*operation.released] = clock; // a thread that waits for the flag reads this value, not an earlier one
  own.clock = clock;
  if (after)
    *after = std::move(clock);
  past.push_back(std::move(now));
  if (past.size() > maxPast)
    past.pop_front();
  return race;
}

} // namespace tile::sim
