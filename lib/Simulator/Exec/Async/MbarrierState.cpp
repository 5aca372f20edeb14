// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/MbarrierState.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

namespace {

/// Completes the phase if no arrivals and no bytes are pending.
MbarrierFault settle(Mbarrier &barrier) {
  if (barrier.pending != 0 || barrier.transactions != 0)
    return MbarrierFault::None;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.arrivedBefore = std::move(barrier.arrivedNow);
  barrier.arrivedNow.clear();
  if (barrier.component != noComponent) {
    Epoch epoch{barrier.component, uint32_t(barrier.phase)};
    barrier.completed.join(barrier.arriving);
    barrier.completed.all.raise(epoch);
    barrier.completed.fenced.raise(epoch);
    barrier.completed.tensor.raise(epoch);
    barrier.arriving = {};
  }
  return barrier.inFlight > 0 ? MbarrierFault::CopyInFlight : MbarrierFault::None;
}

Report barrierReport(const Actor &actor, const BarrierRef &ref, std::string message) {
  Report report;
  report.kind = ReportKind::BarrierMisuse;
  report.actor = actor;
  report.message = std::move(message);
  report.isFatal = true;
  if (ref.barrier) {
    report.notes.push_back({ref.barrier->initializedBy, "the barrier was initialised here"});
    if (ref.barrier->inFlight > 0)
      report.notes.push_back({ref.barrier->lastCopy, "the copy in flight"});
  }
  return report;
}

std::string warpList(const Cta &cta, const std::vector<uint32_t> &ids) {
  std::string text;
  for (uint32_t id : ids)
    text += (text.empty() ? "" : ", ") +
            (id >> 8 == cta.rank ? fmt::format("{}", id & 255) : fmt::format("{} of CTA rank {}", id & 255, id >> 8));
  return text;
}

} // namespace

MbarrierFault arrive(Mbarrier &barrier, uint32_t count) {
  if (count > barrier.pending)
    return MbarrierFault::TooManyArrivals;
  barrier.pending -= count;
  return settle(barrier);
}

MbarrierFault arriveAndDrop(Mbarrier &barrier, uint32_t count) {
  if (count > barrier.pending || count > barrier.expected)
    return MbarrierFault::TooManyArrivals;
  barrier.expected -= count;
  return arrive(barrier, count);
}

MbarrierFault expectTransaction(Mbarrier &barrier, uint32_t bytes) {
  barrier.transactions += bytes;
  return barrier.transactions > maxTransactionBytes ? MbarrierFault::TransactionOverflow : MbarrierFault::None;
}

MbarrierFault completeTransaction(Mbarrier &barrier, uint32_t bytes) {
  barrier.transactions -= bytes;
  if (barrier.transactions < -maxTransactionBytes)
    return MbarrierFault::TransactionOverflow;
  return settle(barrier);
}

std::string barrierName(const Cta &cta, uint32_t address) {
  std::string name = fmt::format("mbarrier at shared+{}", address - sharedBase);
  if (cta.cluster.ctas.size() > 1)
    name += fmt::format(" of CTA ({},{},{})", cta.id[0], cta.id[1], cta.id[2]);
  return name;
}

Cta *findBarrierAddress(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, bool onlyThisCta,
                        uint32_t &within) {
  auto fail = [&](ReportKind kind, std::string message) {
    warp.fault(kind, loc, lane, std::move(message));
    return nullptr;
  };
  if (!isSharedGeneric(address) && address >= sharedWindow)
    return fail(ReportKind::InvalidOperand,
                fmt::format("address {:#x} of an mbarrier is not in shared memory", address));
  Cta *cta = resolveSharedCta(warp, loc, lane, address, within);
  if (!cta)
    return nullptr;
  if (onlyThisCta && cta != &warp.cta)
    return fail(ReportKind::InvalidOperand, fmt::format("the {} is a peer's; this instruction takes one of its own CTA",
                                                        barrierName(*cta, within)));
  if (within % mbarrierBytes)
    return fail(ReportKind::Misaligned,
                fmt::format("address {:#x} of an mbarrier is not a multiple of {}", within, mbarrierBytes));
  if (!cta->shared(within, mbarrierBytes))
    return fail(ReportKind::OutOfBounds, fmt::format("{} lies outside the {} bytes of shared memory",
                                                     barrierName(*cta, within), cta->sharedSize()));
  return cta;
}

BarrierRef findBarrierIn(Warp &warp, const SourceLoc &loc, LaneMask lanes, Cta &cta, uint32_t address, BarrierUse use) {
  auto found = cta.mbarriers.find(address);
  if (found == cta.mbarriers.end()) {
    warp.fault(
        ReportKind::BarrierMisuse, loc, firstLane(lanes),
        fmt::format("there is no {}: it was not initialised, or has been invalidated", barrierName(cta, address)));
    return {};
  }
  if (Checker *checker = cta.cluster.machine.checker)
    checker->barrierAccess(warp, lanes, loc, cta, address - sharedBase, use);
  return {&cta, address, &found->second};
}

BarrierRef findBarrier(Warp &warp, const SourceLoc &loc, LaneMask lanes, uint64_t address, bool onlyThisCta,
                       BarrierUse use) {
  uint32_t within = 0;
  Cta *cta = findBarrierAddress(warp, loc, firstLane(lanes), address, onlyThisCta, within);
  return cta ? findBarrierIn(warp, loc, lanes, *cta, within, use) : BarrierRef{};
}

std::string faultText(MbarrierFault fault, const BarrierRef &ref, uint64_t amount) {
  const Mbarrier &barrier = *ref.barrier;
  std::string name = barrierName(*ref.cta, ref.address);
  switch (fault) {
  case MbarrierFault::TooManyArrivals:
    return fmt::format("{} arrival(s) at the {}, phase {}, of whose {} arrivals {} are pending", amount, name,
                       barrier.phase, barrier.expected, barrier.pending);
  case MbarrierFault::TransactionOverflow:
    return fmt::format("the transaction count of the {} becomes {}; it can hold -{} to {}", name, barrier.transactions,
                       maxTransactionBytes, maxTransactionBytes);
  case MbarrierFault::CopyInFlight:
    return fmt::format("phase {} of the {} completes while {} bytes of copies that signal it are in flight: they were "
                       "not expected (expect_tx)",
                       barrier.phase - 1, name, barrier.inFlight);
  case MbarrierFault::None:
    break;
  }
  return {};
}

Step reportFault(Warp &warp, const SourceLoc &loc, unsigned lane, MbarrierFault fault, const BarrierRef &ref,
                 uint64_t amount) {
  if (fault == MbarrierFault::None)
    return Step::Next;
  warp.cta.cluster.machine.reports.add(barrierReport(warp.actor(loc, lane), ref, faultText(fault, ref, amount)));
  return Step::Fault;
}

std::string describeBarrierWait(const BarrierRef &ref) {
  const Mbarrier &barrier = *ref.barrier;
  std::string text =
      fmt::format("waits for phase {} (parity {}) of the {}: {} of {} arrivals missing", barrier.phase,
                  barrier.phase & 1, barrierName(*ref.cta, ref.address), barrier.pending, barrier.expected);
  if (barrier.transactions > 0)
    text += fmt::format(", {} bytes missing", barrier.transactions);
  if (barrier.transactions < 0)
    text += fmt::format(", {} bytes more than expected have arrived", -barrier.transactions);
  if (barrier.inFlight > 0)
    text += fmt::format(", {} bytes of copies in flight", barrier.inFlight);
  if (!barrier.arrivedNow.empty())
    text += fmt::format("; arrived: warps {}", warpList(*ref.cta, barrier.arrivedNow));
  std::vector<uint32_t> exited, absent;
  for (uint32_t id : barrier.arrivedBefore) {
    if (std::find(barrier.arrivedNow.begin(), barrier.arrivedNow.end(), id) != barrier.arrivedNow.end())
      continue;
    Cta *cta = ref.cta->cluster.cta(id >> 8);
    (cta->warps[id & 255]->alive ? absent : exited).push_back(id);
  }
  if (barrier.pending && !absent.empty())
    text += fmt::format("; in the previous phase, warps {} arrived", warpList(*ref.cta, absent));
  if (barrier.pending && !exited.empty())
    text += fmt::format("; arrived in the previous phase and have ended: warps {}", warpList(*ref.cta, exited));
  return text;
}

void noteArrival(Mbarrier &barrier, const Warp &warp) {
  uint32_t id = warp.cta.rank << 8 | warp.index;
  std::vector<uint32_t> &known = barrier.arrivedNow;
  if (std::find(known.rbegin(), known.rend(), id) == known.rend())
    known.push_back(id);
}

Epoch announceCopy(const BarrierRef &ref, Warp &warp, const SourceLoc &loc, unsigned lane, uint32_t bytes) {
  ref.barrier->inFlight += bytes;
  ref.barrier->lastCopy = warp.actor(loc, lane);
  return {ref.barrier->component, uint32_t(ref.barrier->phase + 1)};
}

void finishCopy(Cta &cta, uint32_t address, uint32_t bytes, const Actor &issuer) {
  Reports &reports = cta.cluster.machine.reports;
  cta.cluster.noteProgress();
  auto found = cta.mbarriers.find(address);
  if (found == cta.mbarriers.end())
    return reports.add(barrierReport(
        issuer, {}, fmt::format("the {} was invalidated before this copy could signal it", barrierName(cta, address))));
  BarrierRef ref{&cta, address, &found->second};
  ref.barrier->inFlight -= bytes;
  if (MbarrierFault fault = completeTransaction(*ref.barrier, bytes); fault != MbarrierFault::None)
    reports.add(barrierReport(issuer, ref, faultText(fault, ref, bytes)));
}

LaneMask lanesOfSameAddress(const Warp &warp, const AddressSource &source, LaneMask remaining, uint64_t &address) {
  address = source.one(warp, firstLane(remaining));
  LaneMask same = 0;
  forLanes(remaining, [&](unsigned lane) { same |= LaneMask(source.one(warp, lane) == address) << lane; });
  return same;
}

} // namespace tile::sim
