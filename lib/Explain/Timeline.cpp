// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/Timeline.h"

#include "Explain/CriticalPath.h"
#include "Explain/TimelineCode.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace tile::explain {
namespace {

constexpr double issueInterval = 2; // clock cycles between two instructions of one warp

/// Asynchronous work that a warp commits in groups.
struct Groups {
  Moment open;              ///< completion of the open group
  std::vector<Moment> done; ///< completion of each committed group
  void commit() {
    done.push_back(later(open, done.empty() ? Moment() : done.back()));
    open = {};
  }
  Moment waitFor(uint64_t pending) const { return done.size() > pending ? done[done.size() - 1 - pending] : Moment(); }
};

struct BarrierState {
  int64_t expected = 1, pending = 1, bytes = 0;
  Moment latest;
  std::vector<Moment> completed;
  /// Each interval in which the slot is filled: from the issue of the copy to the end of the phase.
  std::vector<std::pair<double, double>> fills;
  unsigned fillLine = 0;

  void check() {
    if (pending > 0 || bytes > 0)
      return;
    completed.push_back(latest);
    if (fills.size() && fills.back().second == 0)
      fills.back().second = latest.time;
    pending = expected;
    bytes = 0;
  }
};

struct Meeting {
  uint64_t threads = 0;
  Moment latest;
  std::vector<Moment> completed;
};

struct Actor {
  size_t next = 0;
  Moment now;
  /// For each barrier: the last phase that the actor has seen, and its parity.
  std::unordered_map<uint32_t, std::pair<int, uint64_t>> phases;
  std::unordered_map<uint32_t, Moment> loads; ///< registers with a pending load
  Groups mmas, copies;
  std::optional<size_t> meeting;    ///< index of the completion that the actor waits for after it has arrived
  std::vector<Span> spans, awaited; ///< `spans`: all spans; `awaited`: only waits for data of copies or loads
  bool multiplies = false, copiesBlocks = false;
};

class Replay {
public:
  Replay(const RunRecord &run, const target::Rates &rates, uint32_t mainFile)
      : streams(run.events()), rates(rates), actors(run.events().size()) {
    const sim::Function &function = *run.function();
    for (size_t i = 0; i < function.instructions.size(); ++i)
      code.push_back(decode(function.instructions[i], run.profiler().countsOf(i), rates, mainFile));
    for (const sim::Instruction &one : function.instructions)
      bits.push_back(one.name == "mma" && one.suffixes.size() > 1
                         ? target::operandBits(one.suffixes[one.suffixes.size() - 2])
                     : one.suffixes.empty() ? 16
                                            : target::operandBits(one.suffixes.back()));
    result.isCut = run.isCut();
  }

  Timeline run() {
    while (true) {
      // Choose the actor that can continue first, so that a warp with pending work does not occupy its scheduler early.
      Actor *chosen = nullptr, *stuck = nullptr;
      double earliest = 0;
      for (Actor &actor : actors) {
        if (actor.next >= streamOf(actor).size())
          continue;
        const std::optional<Moment> ready = readyTime(actor);
        if (!ready && (!stuck || actor.now.time < stuck->now.time))
          stuck = &actor;
        if (ready && (!chosen || ready->time < earliest)) {
          chosen = &actor;
          earliest = ready->time;
        }
      }
      if (!chosen && !stuck)
        break;
      result.isForced |= !chosen;
      step(chosen ? *chosen : *stuck);
    }
    finish();
    return std::move(result);
  }

private:
  const std::vector<Event> &streamOf(const Actor &actor) const { return streams[&actor - actors.data()]; }

  /// Returns the phase of the barrier for which a test waits.
  static int neededPhase(const Actor &actor, const Event &event) {
    const uint64_t parity = event.value & 1;
    const auto seen = actor.phases.find(event.address);
    if (seen == actor.phases.end())
      return parity ? -1 : 0;
    return seen->second.second == parity ? seen->second.first : seen->second.first + 1;
  }

  /// Returns the earliest time of the actor's next event, or nullopt if that depends on an event of another actor.
  std::optional<Moment> readyTime(Actor &actor) {
    const Event &event = streamOf(actor)[actor.next];
    const Decoded &one = code[event.instruction];
    Moment time = actor.now;
    if (!actor.loads.empty())
      for (uint32_t index : one.registers)
        if (const auto found = actor.loads.find(index); found != actor.loads.end())
          time = later(time, found->second);
    if (one.action == Action::WaitMmas)
      return later(time, actor.mmas.waitFor(one.pending));
    if (one.action == Action::WaitCopies)
      return later(time, actor.copies.waitFor(one.pending));
    const auto after = [&](const std::vector<Moment> &completed, size_t phase) {
      return phase < completed.size() ? std::optional(later(time, completed[phase])) : std::nullopt;
    };
    if (one.action == Action::Test) {
      const int phase = neededPhase(actor, event);
      return phase < 0 ? time : after(barriers[event.address].completed, size_t(phase));
    }
    if (one.action == Action::Meet) {
      Meeting &meeting = meetings[event.address];
      if (!actor.meeting) {
        actor.meeting = meeting.completed.size();
        arrive(meeting, event, time);
      }
      return after(meeting.completed, *actor.meeting);
    }
    return time;
  }

  void arrive(Meeting &meeting, const Event &event, Moment time) {
    meeting.latest = later(meeting.latest, time);
    meeting.threads += sim::warpSize;
    if (meeting.threads < (event.value ? event.value : actors.size() * sim::warpSize))
      return;
    meeting.completed.push_back(meeting.latest);
    meeting.threads = 0;
    meeting.latest = {};
  }

  void note(std::vector<Span> &spans, double start, double end, SpanKind kind, unsigned line) {
    constexpr double gap = 4;
    if (end <= start)
      return;
    if (!spans.empty() && spans.back().kind == kind && spans.back().line == line && start - spans.back().end <= gap)
      spans.back().end = std::max(spans.back().end, end);
    else
      spans.push_back({start, end, kind, line});
  }

  /// Occupies the memory port for `bytes` bytes, and returns the time at which they arrive.
  Moment takePort(Moment time, double bytes, unsigned line) {
    const Moment start = later(time, portFree);
    const double end = start.time + bytes / rates.ingest;
    portFree = path.add(start, end, SpanKind::Copy, line);
    note(result.copies.spans, start.time, end, SpanKind::Copy, line);
    return path.add(portFree, end + rates.latency, SpanKind::Copy, line);
  }

  Moment multiply(Actor &actor, size_t warp, const Event &event, Moment time, unsigned line) {
    const double clocks = double(event.value) / (rates.multiplyAdds(bits[event.instruction]) / schedulers);
    Moment &free = tensorFree[warp % schedulers];
    const Moment start = later(time, free);
    free = path.add(start, start.time + clocks, SpanKind::Mma, line);
    actor.multiplies = true;
    if (warp % schedulers == 0) {
      note(result.tensor.spans, start.time, free.time, SpanKind::Mma, line);
      result.mmaClocks += clocks;
    }
    result.firstMma = result.firstMma > 0 ? std::min(result.firstMma, start.time) : start.time;
    result.lastMma = std::max(result.lastMma, free.time);
    return free;
  }

  void step(Actor &actor) {
    const size_t warp = &actor - actors.data();
    const Moment before = actor.now, ready = later(before, readyTime(actor).value_or(before));
    const Event &event = streamOf(actor)[actor.next++];
    const Decoded &one = code[event.instruction];
    actor.meeting.reset();
    note(actor.spans, before.time, ready.time, SpanKind::Wait, one.line);
    if (one.action != Action::WaitMmas && one.action != Action::Meet)
      note(actor.awaited, before.time, ready.time, SpanKind::Wait, one.line);
    Moment &scheduler = schedulerFree[warp % schedulers];
    const Moment start = later(ready, scheduler);
    actor.now = path.add(start, start.time + std::max(one.clocks, issueInterval), SpanKind::Work, one.line);
    scheduler = {start.time + one.clocks, actor.now.cause};
    note(actor.spans, start.time, actor.now.time, SpanKind::Work, one.line);
    if (one.isSpecial && warp % schedulers == 0)
      note(result.special.spans, start.time, scheduler.time, SpanKind::Work, one.line);
    act(actor, warp, event, one, {start.time, actor.now.cause});
    if (!actor.loads.empty() && one.action != Action::Load)
      for (uint32_t index : one.registers)
        actor.loads.erase(index);
  }

  void act(Actor &actor, size_t warp, const Event &event, const Decoded &one, Moment start) {
    switch (one.action) {
    case Action::Load: {
      const Moment done = takePort(start, one.portBytes, one.line);
      for (uint32_t index : one.results)
        actor.loads[index] = done;
      break;
    }
    case Action::Store:
      takePort(start, one.portBytes, one.line);
      break;
    case Action::Mma:
      multiply(actor, warp, event, start, one.line);
      break;
    case Action::AsyncMma:
      actor.mmas.open = later(actor.mmas.open, multiply(actor, warp, event, start, one.line));
      break;
    case Action::CommitMmas:
      actor.mmas.commit();
      break;
    case Action::LaneCopy:
    case Action::CopyOut:
      actor.copies.open = later(actor.copies.open, takePort(start, double(event.value), one.line));
      break;
    case Action::CommitCopies:
      actor.copies.commit();
      break;
    case Action::Copy: {
      BarrierState &barrier = barriers[event.address];
      actor.copiesBlocks = true;
      barrier.latest = later(barrier.latest, takePort(start, double(event.value), one.line));
      if (barrier.fills.empty() || barrier.fills.back().second > 0)
        barrier.fills.push_back({start.time, 0});
      barrier.fillLine = one.line;
      barrier.bytes -= int64_t(event.value);
      barrier.check();
      break;
    }
    case Action::Init:
      barriers[event.address].expected = barriers[event.address].pending = int64_t(event.value);
      break;
    case Action::Arrive: {
      BarrierState &barrier = barriers[event.address];
      barrier.latest = later(barrier.latest, start);
      if (one.expects)
        barrier.bytes += int64_t(event.value);
      if (one.arrives)
        barrier.pending -= event.lanes * (one.expects || !event.value ? 1 : int64_t(event.value));
      barrier.check();
      break;
    }
    case Action::Test: {
      const int phase = neededPhase(actor, event);
      actor.phases[event.address] = {phase, event.value & 1};
      break;
    }
    case Action::MeetArrive:
      arrive(meetings[event.address], event, start);
      break;
    default:
      break;
    }
  }

  void finish() {
    bool hasProducer = false;
    Moment end;
    for (const Actor &actor : actors) {
      end = later(end, actor.now);
      hasProducer |= actor.copiesBlocks && !actor.multiplies;
    }
    result.clocks = end.time;
    result.critical.spans = path.backFrom(end);
    for (size_t first = 0; first < actors.size(); first += schedulers) {
      const size_t last = std::min(first + schedulers, actors.size()) - 1;
      size_t shown = first; // the warp with the most instructions
      for (size_t i = first; i <= last; ++i)
        if (streams[i].size() > streams[shown].size())
          shown = i;
      const bool isProducer = hasProducer && actors[shown].copiesBlocks;
      result.roles.push_back({fmt::format("{} {}–{}",
                                          !hasProducer ? "warps"
                                          : isProducer ? "producer, warps"
                                                       : "consumer, warps",
                                          first, last),
                              actors[shown].spans});
    }
    for (const Actor &actor : actors)
      if (actor.multiplies) {
        noteWaits(actor);
        break;
      }
    std::vector<uint32_t> addresses;
    for (const auto &[address, barrier] : barriers)
      if (!barrier.fills.empty())
        addresses.push_back(address);
    std::sort(addresses.begin(), addresses.end());
    for (uint32_t address : addresses)
      addSlot(address, barriers[address]);
  }

  /// Counts only waits between the first and the last MMA, because the first copy and the last store are not pipeline
  /// bubbles.
  void noteWaits(const Actor &actor) {
    std::map<unsigned, double> byLine;
    for (const Span &span : actor.awaited)
      if (span.start > result.firstMma && span.end < result.lastMma)
        byLine[span.line] += span.end - span.start;
    for (const auto &[line, clocks] : byLine) {
      result.awaitedCopies += clocks;
      if (clocks > byLine[result.waitingLine] || !result.waitingLine)
        result.waitingLine = line;
    }
  }

  void addSlot(uint32_t address, const BarrierState &barrier) {
    Lane lane{fmt::format("slot of barrier {}", address - sim::sharedBase), {}};
    for (size_t i = 0; i < barrier.fills.size(); ++i) {
      const auto [start, full] = barrier.fills[i];
      const double end = i + 1 < barrier.fills.size() ? barrier.fills[i + 1].first : std::max(result.lastMma, full);
      lane.spans.push_back({start, full > 0 ? full : result.clocks, SpanKind::Copy, barrier.fillLine});
      if (full > 0 && end > full)
        lane.spans.push_back({full, end, SpanKind::Work, barrier.fillLine});
    }
    result.slots.push_back(std::move(lane));
  }

  const std::vector<std::vector<Event>> &streams;
  target::Rates rates;
  std::vector<Decoded> code;
  std::vector<unsigned> bits;
  std::vector<Actor> actors;
  std::unordered_map<uint32_t, BarrierState> barriers;
  std::unordered_map<uint32_t, Meeting> meetings;
  Moment schedulerFree[schedulers], tensorFree[schedulers], portFree;
  CriticalPath path;
  Timeline result;
};

} // namespace

Timeline replay(const RunRecord &run, const target::Rates &rates, uint32_t mainFile) {
  return Replay(run, rates, mainFile).run();
}

} // namespace tile::explain
