// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async: copies 4, 8 or 16 bytes per thread from global to shared memory; and the mbarrier arrival that waits for
// these copies. PTX ISA 9.7.9.25.1, 9.7.13.15.17.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MbarrierState.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

/// The copies in flight that one instruction has started for all lanes of a warp.
class LaneCopies final : public AsyncOperation {
public:
  LaneCopies(Warp &warp, const Instruction &instruction, uint32_t bytes)
      : warp(warp), line(instruction.loc.ptxLine), bytes(bytes), left(std::make_shared<LaneMask>(0)) {}

  void add(unsigned lane, std::byte *destination, const std::byte *source, uint32_t sourceBytes) {
    *left |= 1u << lane;
    to[lane] = destination;
    from[lane] = source;
    present[lane] = sourceBytes;
    group[lane] = warp.copyGroups(lane).start();
  }
  const std::shared_ptr<LaneMask> &lanes() const { return left; }

  bool advance(Random &random) override {
    LaneMask part = *left & LaneMask(random.next());
    if (part == 0 || random.below(2) == 0)
      part = *left;
    forLanes(part, [&](unsigned lane) {
      if (present[lane])
        std::memcpy(to[lane], from[lane], present[lane]);
      std::memset(to[lane] + present[lane], 0, bytes - present[lane]);
      warp.copyGroups(lane).finish(group[lane]);
    });
    *left &= ~part;
    warp.cta.cluster.noteProgress();
    if (*left)
      return false;
    std::erase(warp.copiesInFlight, left);
    return true;
  }
  std::string describe() const override { return fmt::format("cp.async of line {} is in flight", line); }

private:
  Warp &warp;
  uint32_t line, bytes;
  std::shared_ptr<LaneMask> left;
  std::byte *to[warpSize];
  const std::byte *from[warpSize];
  uint32_t present[warpSize];
  uint64_t group[warpSize];
};

class LaneCopy final : public Operation {
public:
  uint32_t bytes = 16;
  AddressSource destination, source;
  bool hasSourceBytes = false, mayIgnore = false;
  Source<uint32_t> sourceBytes;
  PredicateSource ignored;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    auto copies = std::make_unique<LaneCopies>(warp, *instruction, bytes);
    LaneMask ignoring = mayIgnore ? ignored.read(warp) : 0;
    if (Observer *observer = warp.cta.cluster.machine.observer)
      observer->copy(warp, *instruction, uint64_t(bytes) * std::popcount(active), true);
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
      if (Step step = add(warp, firstLane(remaining), ignoring, *copies); step != Step::Next)
        return step;
    warp.copiesInFlight.push_back(copies->lanes());
    warp.cta.cluster.start(std::move(copies));
    return Step::Next;
  }

private:
  Step add(Warp &warp, unsigned lane, LaneMask ignoring, LaneCopies &copies) const {
    const SourceLoc &loc = instruction->loc;
    uint32_t present = hasSourceBytes ? sourceBytes.one(warp, lane) : bytes;
    if (present > bytes)
      return warp.fault(ReportKind::InvalidOperand, loc, lane,
                        fmt::format("{} bytes of the source for a copy of {}", present, bytes));
    if (ignoring >> lane & 1)
      present = 0;
    Range to, from;
    std::byte *target = resolveShared(warp, loc, lane, destination.one(warp, lane), bytes, bytes, to);
    if (!target)
      return Step::Fault;
    if (to.ctaRank != warp.cta.rank)
      return warp.fault(ReportKind::InvalidOperand, loc, lane, "the destination of cp.async is a peer's memory");
    uint64_t address = source.one(warp, lane);
    const std::byte *data = nullptr;
    if (present && !(data = resolveGlobal(warp, loc, lane, address, present, 1, from)))
      return Step::Fault;
    if (present && address % bytes)
      return warp.fault(ReportKind::Misaligned, loc, lane,
                        fmt::format("a copy of {} bytes from {:#x}", bytes, address));
    if (Checker *checker = checkerOf(warp)) {
      Epoch finished{warp.component(Warp::Waitable::Copies), uint32_t(warp.copyGroups(lane).committedGroups() + 1)};
      if (present)
        checker->asyncAccess(warp, lane, loc, AccessKind::Read, from, false, finished);
      checker->asyncAccess(warp, lane, loc, AccessKind::Write, to, false, finished);
    }
    if (Observer *observer = warp.cta.cluster.machine.observer; observer && present)
      observer->copyBytes(warp, *instruction, address, present, true);
    copies.add(lane, target, data, present);
    return Step::Next;
  }
};

/// Arrivals of several lanes at an mbarrier. Each lane arrives when all its earlier copies are done.
class ArrivalAfterCopies final : public AsyncOperation {
public:
  ArrivalAfterCopies(Warp &warp, const Instruction &instruction)
      : warp(warp), loc(instruction.loc), before(warp.copiesInFlight) {}

  void add(unsigned lane, const BarrierRef &ref, Epoch epoch) {
    left |= 1u << lane;
    address[lane] = ref.address;
    epochs[lane] = epoch;
  }

  bool ready() const override { return (left & ~busy()) != 0; }

  bool advance(Random &) override {
    LaneMask arriving = left & ~busy();
    left &= ~arriving;
    forLanes(arriving, [&](unsigned lane) {
      auto found = warp.cta.mbarriers.find(address[lane]);
      if (found == warp.cta.mbarriers.end()) {
        warp.fault(
            ReportKind::BarrierMisuse, loc, lane,
            fmt::format("the {} was invalidated before the copies were done", barrierName(warp.cta, address[lane])));
        return;
      }
      BarrierRef ref{&warp.cta, address[lane], &found->second};
      noteArrival(*ref.barrier, warp);
      if (Checker *checker = checkerOf(warp))
        checker->releaseEpoch(epochs[lane], ref.barrier->arriving);
      reportFault(warp, loc, lane, arrive(*ref.barrier, 1), ref, 1);
    });
    warp.cta.cluster.noteProgress();
    return left == 0;
  }
  std::string describe() const override {
    return fmt::format("cp.async.mbarrier.arrive of line {} waits for its copies", loc.ptxLine);
  }

private:
  LaneMask busy() const {
    LaneMask lanes = 0;
    for (const auto &copies : before)
      lanes |= *copies;
    return lanes;
  }

  Warp &warp;
  SourceLoc loc;
  std::vector<std::shared_ptr<LaneMask>> before;
  LaneMask left = 0;
  uint32_t address[warpSize];
  Epoch epochs[warpSize];
};

class CopyArrive final : public Operation {
public:
  AddressSource address;
  bool countsItself = false; ///< without .noinc: adds a pending arrival, which this one completes

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    auto arrival = std::make_unique<ArrivalAfterCopies>(warp, *instruction);
    for (LaneMask remaining = active; remaining;) {
      uint64_t at = 0;
      LaneMask lanes = lanesOfSameAddress(warp, address, remaining, at);
      remaining &= ~lanes;
      BarrierRef ref = findBarrier(warp, instruction->loc, lanes, at, true);
      if (!ref)
        return Step::Fault;
      for (; lanes; lanes &= lanes - 1) {
        unsigned lane = firstLane(lanes);
        if (countsItself && ++ref.barrier->pending > maxArrivals)
          return warp.fault(ReportKind::BarrierMisuse, instruction->loc, lane,
                            fmt::format("more than {} arrivals are pending at the {}", maxArrivals,
                                        barrierName(*ref.cta, ref.address)));
        Epoch epoch;
        if (checkerOf(warp))
          epoch = {warp.component(Warp::Waitable::Copies), uint32_t(warp.copyGroups(lane).committedGroups() + 1)};
        arrival->add(lane, ref, epoch);
      }
    }
    warp.cta.cluster.start(std::move(arrival));
    return Step::Next;
  }
};

Result<OperationPtr> decodeCopyArrive(Decoding &d) {
  auto operation = std::make_unique<CopyArrive>();
  operation->countsItself = !d.take("noinc");
  d.takeOne({"shared::cta", "shared"});
  if (!d.take("b64") || !d.finished(1))
    return d.unsupported();
  operation->address = d.address(d.operand(0));
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeLaneCopy(Decoding &d) {
  if (d.take("mbarrier"))
    return d.take("arrive") ? decodeCopyArrive(d) : d.unsupported();
  int level = d.takeOne({"ca", "cg"});
  bool known = level >= 0 && d.takeOne({"shared::cta", "shared"}) >= 0 && d.take("global");
  bool hint = d.take("L2::cache_hint");
  d.takeOne({"L2::64B", "L2::128B", "L2::256B"});
  size_t operands = d.instruction.operands.size();
  if (!known || !d.suffixesFinished() || operands < 3u + hint || operands > 4u + hint)
    return d.unsupported();
  auto operation = std::make_unique<LaneCopy>();
  const Operand &size = d.operand(2);
  operation->bytes = size.bits;
  if (size.kind != Operand::Kind::Immediate || (size.bits != 16 && (level == 1 || (size.bits != 4 && size.bits != 8))))
    return d.error("the size must be 4, 8 or 16 bytes, and 16 with .cg");
  operation->destination = d.address(d.operand(0));
  operation->source = d.address(d.operand(1));
  if (operands == 4u + hint) { // number of bytes of the source, or a predicate that disables the read
    const Operand &last = d.operand(3);
    operation->mayIgnore =
        last.kind == Operand::Kind::Register && d.program.function.registers[last.index].type == Type::Pred;
    operation->hasSourceBytes = !operation->mayIgnore;
    if (operation->mayIgnore)
      operation->ignored = d.predicateSource(last);
    else
      operation->sourceBytes = d.source<uint32_t>(3);
  }
  return decoded(d, std::move(operation));
}

} // namespace tile::sim
