// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bar, barrier: the sixteen named barriers of a CTA, and bar.warp.sync. PTX ISA 9.7.13.1, 9.7.13.2.
//
// A barrier counts whole warps: an aligned instruction arrives for all 32 threads, and an unaligned one for its active
// lanes. If the instruction gives no count, the barrier waits for all threads that have not exited.
#include "Simulator/Exec/Async/Async.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr unsigned numNamedBarriers = 16;

uint32_t livingWarps(const Cta &cta) {
  return std::count_if(cta.warps.begin(), cta.warps.end(), [](const auto &warp) { return warp->alive != 0; });
}

/// Returns the number of threads, a multiple of the warp size, whose arrival completes the phase.
uint32_t expectedNow(const Cta &cta, const NamedBarrier &barrier) {
  if (!barrier.wholeCta)
    return barrier.expected;
  uint32_t left = 0; // number of warps that arrived without waiting and have exited
  for (const auto &warp : cta.warps)
    left += !warp->alive && (barrier.arrivedWarps >> warp->index & 1);
  return warpSize * (livingWarps(cta) + left);
}

/// Completes the phase if all threads have arrived. Called after an arrival and when a warp ends.
void settle(Cta &cta, NamedBarrier &barrier) {
  if (barrier.arrived == 0 || barrier.arrived < expectedNow(cta, barrier))
    return;
  ++barrier.phase;
  barrier.expected = barrier.arrived = barrier.arrivedWarps = 0;
  barrier.completed.join(barrier.arriving);
  barrier.arriving = {};
  cta.cluster.noteProgress();
}

enum class BarMode : uint8_t { Sync, Arrive, Popc, And, Or };

class Bar final : public Operation {
public:
  explicit Bar(BarMode mode) : mode(mode) {}
  const BarMode mode;
  bool hasCount = false;
  Source<uint32_t> id, count;
  PredicateSource predicate;
  Dest<uint32_t> popc;
  PredicateDest result;

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    uint32_t index = id.one(warp, firstLane(active));
    if (fragment.progress == 0) {
      if (Step step = arrive(warp, active, index); step != Step::Next)
        return step;
      if (mode == BarMode::Arrive)
        return Step::Next;
      fragment.progress = warp.cta.named[index].phase + 1;
    }
    NamedBarrier &barrier = warp.cta.named[index];
    settle(warp.cta, barrier);
    if (barrier.phase < fragment.progress) {
      if (Observer *observer = warp.cta.cluster.machine.observer)
        observer->wait(warp, *instruction);
      return Step::Wait;
    }
    if (Checker *checker = checkerOf(warp))
      checker->acquire(warp, barrier.completed, active);
    const uint32_t (&values)[3] = barrier.reduction[(fragment.progress - 1) & 1];
    if (mode == BarMode::Popc)
      forLanes(active, [&](unsigned lane) { popc.one(warp, lane, values[0]); });
    else if (mode != BarMode::Sync)
      result.write(warp, active, values[mode == BarMode::And ? 1 : 2] ? allLanes : 0);
    return Step::Next;
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    if (fragment.progress == 0)
      return {};
    uint32_t index = id.one(warp, firstLane(fragment.lanes));
    const NamedBarrier &barrier = warp.cta.named[index];
    std::string text = fmt::format("waits at barrier {}, phase {}: {} of {} threads have arrived", index, barrier.phase,
                                   barrier.arrived, expectedNow(warp.cta, barrier));
    std::string missing, ended;
    for (const auto &other : warp.cta.warps)
      if (!(barrier.arrivedWarps >> other->index & 1))
        (other->alive ? missing : ended) += fmt::format(" {}", other->index);
    if (!missing.empty())
      text += "; warps that have not:" + missing;
    if (!ended.empty())
      text += "; warps that have ended:" + ended;
    return text;
  }

private:
  Step misuse(Warp &warp, LaneMask active, std::string message) const {
    return warp.fault(ReportKind::BarrierMisuse, instruction->loc, firstLane(active), std::move(message));
  }

  Step checkUniform(Warp &warp, LaneMask active, uint32_t index, uint32_t threads) const {
    if (index >= numNamedBarriers)
      return misuse(warp, active, fmt::format("barrier {}; there are 0 to {}", index, numNamedBarriers - 1));
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
      if (id.one(warp, firstLane(remaining)) != index || (hasCount && count.one(warp, firstLane(remaining)) != threads))
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, firstLane(remaining),
                          "lanes of a warp name different barriers or counts");
    uint32_t most = warpSize * warp.cta.warps.size();
    if (threads == 0 || threads % warpSize)
      return misuse(warp, active,
                    fmt::format("{} threads at a barrier; a multiple of {} is needed", threads, warpSize));
    if (threads > most)
      return misuse(warp, active,
                    fmt::format("barrier {} for {} threads; the CTA has {}", index, threads, warp.cta.threadCount));
    return Step::Next;
  }

  Step arrive(Warp &warp, LaneMask active, uint32_t index) const {
    Cta &cta = warp.cta;
    uint32_t most = warpSize * cta.warps.size(), threads = hasCount ? count.one(warp, firstLane(active)) : most;
    if (Step step = checkUniform(warp, active, index, threads); step != Step::Next)
      return step;
    NamedBarrier &barrier = cta.named[index];
    bool isReduction = mode >= BarMode::Popc;
    if (barrier.arrived == 0) {
      barrier.expected = threads;
      barrier.wholeCta = !hasCount;
      barrier.isReduction = isReduction;
      uint32_t (&values)[3] = barrier.reduction[barrier.phase & 1];
      values[0] = values[2] = 0;
      values[1] = 1;
    } else if (barrier.expected != threads) {
      return misuse(warp, active,
                    fmt::format("barrier {} for {} threads; other threads have arrived for {}", index, threads,
                                barrier.expected));
    } else if (barrier.isReduction != isReduction) {
      return misuse(warp, active, fmt::format("barrier {} with and without a reduction in the same phase", index));
    }
    if (aligned && (barrier.arrivedWarps >> warp.index & 1))
      return misuse(warp, active,
                    fmt::format("the warp arrives at barrier {} a second time in the same phase; {} of {} "
                                "threads have arrived",
                                index, barrier.arrived, barrier.expected));
    // In a partial last warp, the threads that do not exist arrive together with the warp's first thread.
    bool isFirst = firstLane(active) == firstLane(warp.alive);
    uint32_t coming = aligned ? warpSize : std::popcount(active) + (isFirst ? warpSize - std::popcount(warp.alive) : 0);
    if (barrier.arrived + coming > barrier.expected)
      return misuse(
          warp, active,
          fmt::format("{} threads at barrier {}, which is for {}", barrier.arrived + coming, index, barrier.expected));
    barrier.arrived += coming;
    barrier.arrivedWarps |= 1u << warp.index;
    if (isReduction)
      reduce(warp, active, barrier.reduction[barrier.phase & 1]);
    if (Checker *checker = checkerOf(warp))
      checker->release(warp, barrier.arriving, active);
    cta.cluster.noteProgress();
    if (mode == BarMode::Arrive)
      settle(cta, barrier);
    return Step::Next;
  }

  void reduce(const Warp &warp, LaneMask active, uint32_t (&values)[3]) const {
    LaneMask holds = predicate.read(warp) & active;
    values[0] += std::popcount(holds);
    values[1] &= holds == active;
    values[2] |= holds != 0;
  }
};

/// bar.warp.sync. The lanes of the mask may execute different bar.warp.sync instructions.
class WarpBarrier final : public Operation {
public:
  Source<uint32_t> members;

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    if (fragment.progress == passed)
      return Step::Next;
    LaneMask mask = members.one(warp, firstLane(active));
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
      if (!(mask >> firstLane(remaining) & 1))
        return warp.fault(ReportKind::BarrierMisuse, instruction->loc, firstLane(remaining),
                          fmt::format("the lane is not in the mask {:#010x} that it waits for", mask));
    fragment.progress = arrivedWith | mask;
    LaneMask missing = mask & warp.alive & ~fragment.lanes;
    for (const Fragment &other : warp.fragments)
      if (other.progress == fragment.progress && isWarpBarrier(warp, other))
        missing &= ~other.lanes;
    if (missing)
      return Step::Wait;
    for (Fragment &other : warp.fragments)
      if (&other != &fragment && other.progress == fragment.progress && isWarpBarrier(warp, other)) {
        other.progress = passed;
        other.waits = false;
      }
    warp.cta.cluster.noteProgress();
    if (Checker *checker = checkerOf(warp))
      checker->syncLanes(warp, mask);
    return Step::Next;
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    if (fragment.progress == 0)
      return {};
    LaneMask mask = LaneMask(fragment.progress);
    return fmt::format("lanes {:#010x} wait at bar.warp.sync for the lanes {:#010x}", fragment.lanes,
                       mask & warp.alive & ~fragment.lanes);
  }

private:
  static constexpr uint64_t arrivedWith = uint64_t(1) << 62, passed = uint64_t(1) << 63;
  static bool isWarpBarrier(const Warp &warp, const Fragment &fragment) {
    const Operation *operation = warp.cta.cluster.machine.program.operations[fragment.pc].get();
    return dynamic_cast<const WarpBarrier *>(operation) != nullptr;
  }
};

Result<OperationPtr> decodeNamed(Decoding &d, bool alwaysAligned) {
  int mode = d.takeOne({"sync", "arrive", "red"});
  if (mode < 0)
    return d.unsupported();
  int reduction = mode == 2 ? d.takeOne({"popc", "and", "or"}) : 0;
  auto operation = std::make_unique<Bar>(mode < 2 ? BarMode(mode) : BarMode(2 + reduction));
  operation->aligned = d.take("aligned") || alwaysAligned;
  bool typed = mode < 2 || d.take(reduction == 0 ? "u32" : "pred");
  // operands: {destination,} barrier {, count} {, predicate}
  size_t operands = d.instruction.operands.size(), first = mode == 2, last = operands - first;
  if (reduction < 0 || !typed || !d.suffixesFinished() || operands < first + 1 || last < first + 1 || last > first + 2)
    return d.unsupported();
  operation->id = d.source<uint32_t>(first);
  operation->hasCount = last == first + 2;
  if (operation->hasCount)
    operation->count = d.source<uint32_t>(first + 1);
  else if (mode == 1)
    return d.error("bar.arrive needs the number of threads");
  if (mode == 2) {
    operation->predicate = d.predicateSource(d.operand(operands - 1));
    if (reduction == 0)
      operation->popc = d.dest<uint32_t>(0);
    else
      operation->result = d.predicateDest(d.operand(0));
  }
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeWarpBarrier(Decoding &d) {
  if (!d.take("sync") || !d.finished(1))
    return d.unsupported();
  auto operation = std::make_unique<WarpBarrier>();
  operation->members = d.source<uint32_t>(0);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeBar(Decoding &d) {
  if (d.take("warp"))
    return decodeWarpBarrier(d);
  d.take("cta");
  return decodeNamed(d, true);
}

Result<OperationPtr> decodeBarrier(Decoding &d) {
  if (d.take("cluster"))
    return decodeClusterBarrier(d);
  d.take("cta");
  return decodeNamed(d, false);
}

} // namespace tile::sim
