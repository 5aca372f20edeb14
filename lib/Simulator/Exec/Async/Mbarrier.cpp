// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier.*: the operations that threads execute on mbarrier objects. PTX ISA 9.7.13.15.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MbarrierState.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

/// The contents of the eight bytes of an mbarrier object. Programs may not read them.
constexpr uint64_t objectToken = 0x726569727261626d; // "mbarrier"

class Init final : public Operation {
public:
  AddressSource address;
  Source<uint32_t> count;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      unsigned lane = firstLane(remaining);
      if (Step step = one(warp, lane); step != Step::Next)
        return step;
    }
    return Step::Next;
  }

private:
  Step one(Warp &warp, unsigned lane) const {
    const SourceLoc &loc = instruction->loc;
    uint32_t within = 0, arrivals = count.one(warp, lane);
    Cta *cta = findBarrierAddress(warp, loc, lane, address.one(warp, lane), true, within);
    if (!cta)
      return Step::Fault;
    if (arrivals == 0 || arrivals > maxArrivals)
      return warp.fault(ReportKind::BarrierMisuse, loc, lane,
                        fmt::format("an mbarrier for {} arrivals; 1 to {} are allowed", arrivals, maxArrivals));
    auto [entry, isNew] = cta->mbarriers.try_emplace(within);
    if (!isNew)
      return warp.fault(ReportKind::BarrierMisuse, loc, lane,
                        fmt::format("the {} is initialised a second time, without mbarrier.inval in between",
                                    barrierName(*cta, within)));
    Mbarrier &barrier = entry->second;
    barrier.expected = barrier.pending = arrivals;
    barrier.initializedBy = warp.actor(loc, lane);
    std::memcpy(cta->shared(within, mbarrierBytes), &objectToken, mbarrierBytes);
    if (Checker *checker = checkerOf(warp)) {
      barrier.component = checker->addComponent(barrierName(*cta, within));
      checker->barrierAccess(warp, 1u << lane, loc, *cta, within - sharedBase, BarrierUse::Init);
    }
    return Step::Next;
  }
};

class Inval final : public Operation {
public:
  AddressSource address;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      unsigned lane = firstLane(remaining);
      BarrierRef ref =
          findBarrier(warp, instruction->loc, 1u << lane, address.one(warp, lane), true, BarrierUse::Invalidate);
      if (!ref)
        return Step::Fault;
      if (ref.barrier->inFlight > 0)
        return warp.fault(ReportKind::BarrierMisuse, instruction->loc, lane,
                          fmt::format("the {} is invalidated while {} bytes of copies that signal it are in flight",
                                      barrierName(*ref.cta, ref.address), ref.barrier->inFlight));
      ref.cta->mbarriers.erase(ref.address);
    }
    return Step::Next;
  }
};

/// The changes that arrive, arrive_drop, expect_tx and complete_tx make to the counts of a barrier.
struct Change {
  bool isArrival = false;
  bool drops = false;
  bool mayComplete = true; ///< false with .noComplete
  bool expects = false, completes = false;
  bool relaxed = false;
  bool hasClusterScope = false;
};

class Update final : public Operation {
public:
  explicit Update(Change change) : change(change) { arrivals.constant = 1; }
  const Change change;
  AddressSource address;
  Source<uint32_t> arrivals, bytes;
  Dest<uint64_t> state;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining;) {
      uint64_t at = 0;
      LaneMask lanes = lanesOfSameAddress(warp, address, remaining, at);
      remaining &= ~lanes;
      BarrierRef ref = findBarrier(warp, instruction->loc, lanes, at, false);
      if (!ref)
        return Step::Fault;
      uint64_t releasedIn = ~uint64_t(0); // the phase in which the lanes last arrived with release semantics
      for (; lanes; lanes &= lanes - 1) {
        Checker *checker = checkerOf(warp);
        if (checker && change.isArrival && ref.barrier->phase != releasedIn)
          release(*checker, warp, ref, lanes);
        releasedIn = ref.barrier->phase;
        if (Step step = one(warp, firstLane(lanes), ref); step != Step::Next)
          return step;
      }
    }
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  /// Makes everything that the lanes have observed visible to the waiting threads. If the barrier is in another CTA and
  /// the arrival lacks cluster scope, it does not become visible to the async proxy.
  void release(Checker &checker, Warp &warp, const BarrierRef &ref, LaneMask lanes) const {
    SyncClock &arriving = ref.barrier->arriving;
    if (change.relaxed)
      return checker.releaseTensor(warp, arriving);
    if (change.hasClusterScope || ref.cta == &warp.cta)
      return checker.release(warp, arriving, lanes);
    SyncClock seen;
    checker.release(warp, seen, lanes);
    seen.fenced = {};
    arriving.join(seen);
  }

  Step one(Warp &warp, unsigned lane, const BarrierRef &ref) const {
    const SourceLoc &loc = instruction->loc;
    Mbarrier &barrier = *ref.barrier;
    uint64_t token = mbarrierToken(barrier);
    uint32_t count = arrivals.one(warp, lane), size = bytes.one(warp, lane);
    MbarrierFault fault = MbarrierFault::None;
    if (change.expects)
      fault = expectTransaction(barrier, size);
    if (change.completes)
      fault = completeTransaction(barrier, size);
    if (fault != MbarrierFault::None || !change.isArrival)
      return reportFault(warp, loc, lane, fault, ref, size);
    if (count == 0 || count > maxArrivals)
      return warp.fault(ReportKind::BarrierMisuse, loc, lane,
                        fmt::format("{} arrivals at once; 1 to {} are allowed", count, maxArrivals));
    noteArrival(barrier, warp);
    uint64_t phase = barrier.phase;
    fault = change.drops ? arriveAndDrop(barrier, count) : arrive(barrier, count);
    if (fault != MbarrierFault::None)
      return reportFault(warp, loc, lane, fault, ref, count);
    if (!change.mayComplete && barrier.phase != phase)
      return warp.fault(ReportKind::BarrierMisuse, loc, lane,
                        fmt::format("an arrival with .noComplete completes phase {} of the {}", phase,
                                    barrierName(*ref.cta, ref.address)));
    state.one(warp, lane, token);
    return Step::Next;
  }
};

/// test_wait and try_wait.
class Test final : public Operation {
public:
  AddressSource address;
  Source<uint64_t> state;
  Source<uint32_t> parity;
  bool byParity = false, relaxed = false;
  PredicateDest complete;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask passed = 0;
    for (LaneMask remaining = active; remaining;) {
      uint64_t at = 0;
      LaneMask lanes = lanesOfSameAddress(warp, address, remaining, at), complete = 0;
      remaining &= ~lanes;
      BarrierRef ref = findBarrier(warp, instruction->loc, lanes, at, true);
      if (!ref)
        return Step::Fault;
      for (; lanes; lanes &= lanes - 1) {
        int64_t phase = 0;
        if (!phaseOf(warp, firstLane(lanes), ref, phase))
          return Step::Fault;
        complete |= LaneMask(phase < int64_t(ref.barrier->phase)) << firstLane(lanes);
      }
      passed |= complete;
      if (Checker *checker = checkerOf(warp); checker && complete) {
        if (relaxed)
          checker->acquireTensor(warp, ref.barrier->completed);
        else
          checker->acquire(warp, ref.barrier->completed, complete);
      }
    }
    complete.write(warp, active, passed);
    if (passed == active)
      return Step::Next;
    if (Observer *observer = warp.cta.cluster.machine.observer)
      observer->wait(warp, *instruction);
    return Step::Spin;
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    Cta &cta = warp.cta;
    for (LaneMask remaining = fragment.lanes; remaining; remaining &= remaining - 1) {
      unsigned lane = firstLane(remaining);
      uint32_t within = address.one(warp, lane) & sharedOffsetMask;
      auto found = cta.mbarriers.find(within);
      if (found == cta.mbarriers.end())
        continue;
      BarrierRef ref{&cta, within, &found->second};
      const Mbarrier &barrier = *ref.barrier;
      bool isCurrent = byParity ? (barrier.phase & 1) == parity.one(warp, lane)
                                : phaseOfToken(state.one(warp, lane)) == barrier.phase;
      if (isCurrent)
        return describeBarrierWait(ref);
    }
    return {};
  }

private:
  /// Sets `phase` to the phase whose completion the lane tests: the current one or the one before it (-1 before the
  /// first). Returns false after a report.
  bool phaseOf(Warp &warp, unsigned lane, const BarrierRef &ref, int64_t &phase) const {
    const Mbarrier &barrier = *ref.barrier;
    int64_t current = barrier.phase;
    if (byParity) {
      uint32_t value = parity.one(warp, lane);
      phase = (current & 1) == value ? current : current - 1;
      if (value > 1)
        warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                   fmt::format("{} is not a parity of a phase: 0 or 1", value));
      return value <= 1;
    }
    phase = phaseOfToken(state.one(warp, lane));
    if (phase == current || phase + 1 == current)
      return true;
    warp.fault(ReportKind::BarrierMisuse, instruction->loc, lane,
               fmt::format("a test of phase {} of the {}, which is in phase {}: only this phase and the previous one "
                           "can be tested",
                           phase, barrierName(*ref.cta, ref.address), current));
    return false;
  }
};

class PendingCount final : public Operation {
public:
  Dest<uint32_t> count;
  Source<uint64_t> state;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) { count.one(warp, lane, pendingOfToken(state.one(warp, lane))); });
    return Step::Next;
  }
};

/// Takes .shared, .shared::cta, .shared::cluster, or nothing for a generic address. The addresses of the spaces are
/// disjoint, so an address alone tells its space.
bool takeSharedSpace(Decoding &d, bool mayBePeer) {
  if (mayBePeer && d.take("shared::cluster"))
    return true;
  return d.takeOne({"shared::cta", "shared"}) >= 0;
}

/// The suffixes {.sem{.scope}}. The default scope is the CTA.
struct Order {
  bool relaxed = false, hasClusterScope = false;
};
Order takeOrder(Decoding &d, std::string_view strong) {
  Order order;
  order.relaxed = d.take("relaxed");
  if (order.relaxed || d.take(strong))
    order.hasClusterScope = d.takeOne({"cta", "cluster"}) == 1;
  return order;
}

Result<OperationPtr> decodeUpdate(Decoding &d, bool drops) {
  Change change{.isArrival = true, .drops = drops};
  change.mayComplete = !d.take("noComplete");
  change.expects = change.mayComplete && d.take("expect_tx");
  const Order order = takeOrder(d, "release");
  change.relaxed = order.relaxed;
  change.hasClusterScope = order.hasClusterScope;
  takeSharedSpace(d, change.mayComplete);
  size_t operands = d.instruction.operands.size();
  bool needsCount = change.expects || !change.mayComplete;
  // An arrival on a peer's barrier returns no state, and its destination operand is optional.
  bool hasState = operands > 0 && d.operand(0).kind != Operand::Kind::Address;
  if (!d.take("b64") || !d.suffixesFinished() || operands < hasState + 1u + needsCount || operands > hasState + 2u)
    return d.unsupported();
  auto operation = std::make_unique<Update>(change);
  if (hasState)
    operation->state = d.dest<uint64_t>(0);
  else
    operation->state.isSink = true;
  operation->address = d.address(d.operand(hasState));
  if (operands == hasState + 2u)
    (change.expects ? operation->bytes : operation->arrivals) = d.source<uint32_t>(hasState + 1);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeTransaction(Decoding &d, bool completes) {
  Change change{.expects = !completes, .completes = completes};
  if (d.take("relaxed"))
    d.takeOne({"cta", "cluster"});
  takeSharedSpace(d, true);
  if (!d.take("b64") || !d.finished(2))
    return d.unsupported();
  auto operation = std::make_unique<Update>(change);
  operation->address = d.address(d.operand(0));
  operation->bytes = d.source<uint32_t>(1);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeTest(Decoding &d, bool maySuspend) {
  auto operation = std::make_unique<Test>();
  operation->byParity = d.take("parity");
  operation->relaxed = takeOrder(d, "acquire").relaxed;
  takeSharedSpace(d, false);
  size_t operands = d.instruction.operands.size();
  if (!d.take("b64") || !d.suffixesFinished() || operands < 3 || operands > 3u + maySuspend)
    return d.unsupported();
  operation->complete = d.predicateDest(d.operand(0));
  operation->address = d.address(d.operand(1));
  if (operation->byParity)
    operation->parity = d.source<uint32_t>(2);
  else
    operation->state = d.source<uint64_t>(2);
  if (operands == 4)
    d.source<uint32_t>(3); // the suspend-time hint is ignored, because any wait time is valid
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeInit(Decoding &d) {
  takeSharedSpace(d, false);
  if (!d.take("b64") || !d.finished(2))
    return d.unsupported();
  auto operation = std::make_unique<Init>();
  operation->address = d.address(d.operand(0));
  operation->count = d.source<uint32_t>(1);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeInval(Decoding &d) {
  takeSharedSpace(d, false);
  if (!d.take("b64") || !d.finished(1))
    return d.unsupported();
  auto operation = std::make_unique<Inval>();
  operation->address = d.address(d.operand(0));
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodePendingCount(Decoding &d) {
  if (!d.take("b64") || !d.finished(2))
    return d.unsupported();
  auto operation = std::make_unique<PendingCount>();
  operation->count = d.dest<uint32_t>(0);
  operation->state = d.source<uint64_t>(1);
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeMbarrier(Decoding &d) {
  switch (d.takeOne({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait",
                     "pending_count"})) {
  case 0:
    return decodeInit(d);
  case 1:
    return decodeInval(d);
  case 2:
    return decodeUpdate(d, false);
  case 3:
    return decodeUpdate(d, true);
  case 4:
    return decodeTransaction(d, false);
  case 5:
    return decodeTransaction(d, true);
  case 6:
    return decodeTest(d, false);
  case 7:
    return decodeTest(d, true);
  case 8:
    return decodePendingCount(d);
  default:
    return d.unsupported();
  }
}

} // namespace tile::sim
