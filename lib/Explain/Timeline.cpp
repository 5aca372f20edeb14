#include "Explain/Timeline.h"

#include "Explain/Evidence.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace tile::explain {
namespace {

constexpr unsigned schedulers = 4;  // of a multiprocessor, each with a tensor core
constexpr double issueInterval = 2; // clocks between two instructions of a warp

bool has(const sim::Instruction &instruction, std::string_view suffix) {
  return std::find(instruction.suffixes.begin(), instruction.suffixes.end(), suffix) != instruction.suffixes.end();
}

/// What the replay does with an instruction.
enum class Action : uint8_t {
  Issue,
  Load,
  Store,
  Product,
  AsyncProduct,
  Copy, ///< bulk, into shared memory
  CopyOut,
  LaneCopy,
  CommitProducts,
  WaitProducts,
  CommitCopies,
  WaitCopies,
  Init,
  Arrive,
  Test,
  Meet,
  MeetArrive
};

struct Decoded {
  Action action = Action::Issue;
  double clocks = 1;    ///< on the warp's scheduler
  double portBytes = 0; ///< of an average execution
  uint64_t pending = 0; ///< of a wait for groups
  bool expects = false; ///< an arrival with bytes, or only bytes
  bool arrives = true;
  unsigned line = 0;
  std::vector<uint32_t> registers; ///< all that it names
  std::vector<uint32_t> results;   ///< of a load
};

void collect(const sim::Operand &operand, std::vector<uint32_t> &into) {
  if (operand.kind == sim::Operand::Kind::Register)
    into.push_back(operand.index);
  for (const sim::Operand &element : operand.elements)
    collect(element, into);
}

Action actionOf(const sim::Instruction &one) {
  if (one.name == "wgmma")
    return has(one, "mma_async")      ? Action::AsyncProduct
           : has(one, "commit_group") ? Action::CommitProducts
           : has(one, "wait_group")   ? Action::WaitProducts
                                      : Action::Issue;
  if (one.name == "mma")
    return Action::Product;
  if (one.name == "mbarrier")
    return has(one, "init")                                ? Action::Init
           : has(one, "try_wait") || has(one, "test_wait") ? Action::Test
           : has(one, "arrive") || has(one, "expect_tx")   ? Action::Arrive
                                                           : Action::Issue;
  if (one.name == "bar" || one.name == "barrier")
    return has(one, "cluster") || has(one, "warp") ? Action::Issue
           : has(one, "arrive")                    ? Action::MeetArrive
                                                   : Action::Meet;
  if (one.name == "cp") {
    if (has(one, "commit_group"))
      return Action::CommitCopies;
    if (has(one, "wait_group") || has(one, "wait_all"))
      return Action::WaitCopies;
    return !has(one, "bulk")                          ? Action::LaneCopy
           : has(one, "mbarrier::complete_tx::bytes") ? Action::Copy
                                                      : Action::CopyOut;
  }
  if (has(one, "global") && (one.name == "ld" || one.name == "atom"))
    return Action::Load;
  if (has(one, "global") && (one.name == "st" || one.name == "red"))
    return Action::Store;
  return Action::Issue;
}

Decoded decode(const sim::Instruction &one, const sim::Counts &counts, const target::Rates &rates, uint32_t mainFile) {
  using C = sim::Counter;
  Decoded decoded;
  decoded.action = actionOf(one);
  decoded.line = one.place.file == mainFile ? one.place.sourceLine : 0;
  for (const sim::Operand &operand : one.operands)
    collect(operand, decoded.registers);
  if (decoded.action == Action::Load)
    collect(one.operands.front(), decoded.results);
  const double times = std::max<double>(double(counts[C::Instructions]), 1);
  decoded.clocks =
      engineOf(one) == "special functions" ? 32 / (rates.special / schedulers) : 32 / (rates.lanes / schedulers);
  decoded.clocks += double(counts[C::SharedBytes] ? counts[C::SharedWavefronts] : 0) / times;
  decoded.portBytes = double(32 * counts[C::GlobalSectors] + counts[C::CopiedIn] + counts[C::CopiedOut]) / times;
  if (has(one, "expect_tx")) {
    decoded.expects = true;
    decoded.arrives = has(one, "arrive");
  }
  if (!one.operands.empty() && one.operands[0].kind == sim::Operand::Kind::Immediate)
    decoded.pending = one.operands[0].bits;
  return decoded;
}

/// Asynchronous work that a warp commits in groups.
struct Groups {
  double open = 0;          ///< when the last of the open group is done
  std::vector<double> done; ///< of the committed ones
  void commit() {
    done.push_back(std::max(open, done.empty() ? 0 : done.back()));
    open = 0;
  }
  double waitFor(uint64_t pending) const { return done.size() > pending ? done[done.size() - 1 - pending] : 0; }
};

struct BarrierState {
  int64_t expected = 1, pending = 1, bytes = 0;
  double latest = 0;
  std::vector<double> completed;
  std::vector<std::pair<double, double>> fills; ///< of slots: from the copy's issue to the phase's end
  unsigned fillLine = 0;

  void check() {
    if (pending > 0 || bytes > 0)
      return;
    completed.push_back(latest);
    if (fills.size() && fills.back().second == 0)
      fills.back().second = latest;
    pending = expected;
    bytes = 0;
  }
};

struct Meeting {
  uint64_t threads = 0;
  double latest = 0;
  std::vector<double> completed;
};

struct Actor {
  size_t next = 0;
  double time = 0;
  std::unordered_map<uint32_t, std::pair<int, uint64_t>> phases; ///< of barriers: the one that it saw last, its parity
  std::unordered_map<uint32_t, double> loads;                    ///< registers that are on their way
  Groups products, copies;
  std::optional<size_t> meeting;    ///< has arrived, and waits for this completion
  std::vector<Span> spans, awaited; ///< all; waits for what copies or loads bring
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
      // By the time at which it can go on: what is on its way must not hold a scheduler before.
      Actor *chosen = nullptr, *stuck = nullptr;
      double earliest = 0;
      for (Actor &actor : actors) {
        if (actor.next >= streamOf(actor).size())
          continue;
        const double ready = readyTime(actor);
        if (ready < 0 && (!stuck || actor.time < stuck->time))
          stuck = &actor;
        if (ready >= 0 && (!chosen || ready < earliest)) {
          chosen = &actor;
          earliest = ready;
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

  /// Which completion of its barrier a test needs.
  static int neededPhase(const Actor &actor, const Event &event) {
    const uint64_t parity = event.value & 1;
    const auto seen = actor.phases.find(event.address);
    if (seen == actor.phases.end())
      return parity ? -1 : 0;
    return seen->second.second == parity ? seen->second.first : seen->second.first + 1;
  }

  /// When the actor's next event can happen; negative: not before another actor has done something.
  double readyTime(Actor &actor) {
    const Event &event = streamOf(actor)[actor.next];
    const Decoded &one = code[event.instruction];
    double time = actor.time;
    if (!actor.loads.empty())
      for (uint32_t index : one.registers)
        if (const auto found = actor.loads.find(index); found != actor.loads.end())
          time = std::max(time, found->second);
    if (one.action == Action::WaitProducts)
      return std::max(time, actor.products.waitFor(one.pending));
    if (one.action == Action::WaitCopies)
      return std::max(time, actor.copies.waitFor(one.pending));
    if (one.action == Action::Test) {
      const int phase = neededPhase(actor, event);
      const std::vector<double> &completed = barriers[event.address].completed;
      return phase < 0 ? time : size_t(phase) < completed.size() ? std::max(time, completed[phase]) : -1;
    }
    if (one.action == Action::Meet) {
      Meeting &meeting = meetings[event.address];
      if (!actor.meeting) {
        actor.meeting = meeting.completed.size();
        arrive(meeting, event, time);
      }
      return *actor.meeting < meeting.completed.size() ? std::max(time, meeting.completed[*actor.meeting]) : -1;
    }
    return time;
  }

  void arrive(Meeting &meeting, const Event &event, double time) {
    meeting.latest = std::max(meeting.latest, time);
    meeting.threads += sim::warpSize;
    if (meeting.threads < (event.value ? event.value : actors.size() * sim::warpSize))
      return;
    meeting.completed.push_back(meeting.latest);
    meeting.threads = 0;
    meeting.latest = 0;
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

  double takePort(double time, double bytes, unsigned line) {
    const double start = std::max(time, portFree);
    portFree = start + bytes / rates.ingest;
    note(result.copies.spans, start, portFree, SpanKind::Copy, line);
    return portFree + rates.latency;
  }

  double multiply(Actor &actor, size_t warp, const Event &event, double time, unsigned line) {
    const double clocks = double(event.value) / (rates.multiplyAdds(bits[event.instruction]) / schedulers);
    double &free = tensorFree[warp % schedulers];
    const double start = std::max(time, free);
    free = start + clocks;
    actor.multiplies = true;
    if (warp % schedulers == 0) {
      note(result.tensor.spans, start, free, SpanKind::Product, line);
      result.products += clocks;
    }
    result.firstProduct = result.firstProduct > 0 ? std::min(result.firstProduct, start) : start;
    result.lastProduct = std::max(result.lastProduct, free);
    return free;
  }

  void step(Actor &actor) {
    const size_t warp = &actor - actors.data();
    const double ready = std::max(readyTime(actor), actor.time);
    const Event &event = streamOf(actor)[actor.next++];
    const Decoded &one = code[event.instruction];
    actor.meeting.reset();
    note(actor.spans, actor.time, ready, SpanKind::Wait, one.line);
    if (one.action != Action::WaitProducts && one.action != Action::Meet)
      note(actor.awaited, actor.time, ready, SpanKind::Wait, one.line);
    double &scheduler = schedulerFree[warp % schedulers];
    const double start = std::max(ready, scheduler);
    scheduler = start + one.clocks;
    actor.time = start + std::max(one.clocks, issueInterval);
    note(actor.spans, start, actor.time, SpanKind::Work, one.line);
    act(actor, warp, event, one, start);
    if (!actor.loads.empty() && one.action != Action::Load)
      for (uint32_t index : one.registers)
        actor.loads.erase(index);
  }

  void act(Actor &actor, size_t warp, const Event &event, const Decoded &one, double start) {
    switch (one.action) {
    case Action::Load: {
      const double done = takePort(start, one.portBytes, one.line);
      for (uint32_t index : one.results)
        actor.loads[index] = done;
      break;
    }
    case Action::Store:
      takePort(start, one.portBytes, one.line);
      break;
    case Action::Product:
      multiply(actor, warp, event, start, one.line);
      break;
    case Action::AsyncProduct:
      actor.products.open = std::max(actor.products.open, multiply(actor, warp, event, start, one.line));
      break;
    case Action::CommitProducts:
      actor.products.commit();
      break;
    case Action::LaneCopy:
    case Action::CopyOut:
      actor.copies.open = std::max(actor.copies.open, takePort(start, double(event.value), one.line));
      break;
    case Action::CommitCopies:
      actor.copies.commit();
      break;
    case Action::Copy: {
      BarrierState &barrier = barriers[event.address];
      actor.copiesBlocks = true;
      barrier.latest = std::max(barrier.latest, takePort(start, double(event.value), one.line));
      if (barrier.fills.empty() || barrier.fills.back().second > 0)
        barrier.fills.push_back({start, 0});
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
      barrier.latest = std::max(barrier.latest, start);
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
    for (const Actor &actor : actors) {
      result.clocks = std::max(result.clocks, actor.time);
      hasProducer |= actor.copiesBlocks && !actor.multiplies;
    }
    for (size_t first = 0; first < actors.size(); first += schedulers) {
      const size_t last = std::min(first + schedulers, actors.size()) - 1;
      size_t shown = first; // the busiest
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

  /// Only waits while products go on: the first copy and the last store are nobody's bubble.
  void noteWaits(const Actor &actor) {
    std::map<unsigned, double> byLine;
    for (const Span &span : actor.awaited)
      if (span.start > result.firstProduct && span.end < result.lastProduct)
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
      const double end = i + 1 < barrier.fills.size() ? barrier.fills[i + 1].first : std::max(result.lastProduct, full);
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
  double schedulerFree[schedulers] = {}, tensorFree[schedulers] = {}, portFree = 0;
  Timeline result;
};

} // namespace

Timeline replay(const RunRecord &run, const target::Rates &rates, uint32_t mainFile) {
  return Replay(run, rates, mainFile).run();
}

} // namespace tile::explain
