// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phase arithmetic of mbarrier objects (PTX ISA 9.7.13.15), and helpers for instructions that use them.
//
// A phase completes when no arrival is pending and as many transaction bytes have arrived as were expected. Bytes of
// copies in flight are counted as well (`inFlight`): if a phase completes before they have arrived, the program
// expected too few bytes.
#pragma once

#include "Simulator/Exec/MemoryPort.h"

namespace tile::sim {

constexpr uint32_t maxArrivals = (1u << 20) - 1;
constexpr int64_t maxTransactionBytes = (1 << 20) - 1;
constexpr uint32_t mbarrierBytes = 8;

enum class MbarrierFault : uint8_t {
  None,
  TooManyArrivals,     ///< more arrivals than the phase still expects
  TransactionOverflow, ///< the transaction count exceeds its 20 bits
  CopyInFlight         ///< the phase completed while bytes for it were still in flight
};

MbarrierFault arrive(Mbarrier &barrier, uint32_t count);
/// Executes arrive_drop: later phases expect `count` arrivals fewer.
MbarrierFault arriveAndDrop(Mbarrier &barrier, uint32_t count);
MbarrierFault expectTransaction(Mbarrier &barrier, uint32_t bytes);
MbarrierFault completeTransaction(Mbarrier &barrier, uint32_t bytes);

/// Returns the state that mbarrier.arrive returns: the phase and the arrivals pending before the arrival.
inline uint64_t mbarrierToken(const Mbarrier &barrier) {
  return barrier.phase << 20 | barrier.pending;
}
inline uint64_t phaseOfToken(uint64_t token) {
  return token >> 20;
}
inline uint32_t pendingOfToken(uint64_t token) {
  return token & maxArrivals;
}

/// A barrier that an instruction uses.
struct BarrierRef {
  Cta *cta = nullptr;
  uint32_t address = 0;
  Mbarrier *barrier = nullptr;
  explicit operator bool() const { return barrier; }
};

/// Returns the barrier at a shared address, or at a generic address in shared memory, which all of `lanes` use. Informs
/// the checker. Returns null after a report if the address is misaligned, not in shared memory or not that of a
/// barrier. If `onlyThisCta`, the instruction does not accept a barrier of another CTA.
BarrierRef findBarrier(Warp &warp, const SourceLoc &loc, LaneMask lanes, uint64_t address, bool onlyThisCta,
                       BarrierUse use = BarrierUse::Use);
/// Returns the barrier at `address` in a given CTA of the cluster, for multicasts.
BarrierRef findBarrierIn(Warp &warp, const SourceLoc &loc, LaneMask lanes, Cta &cta, uint32_t address, BarrierUse use);
/// Returns the CTA that owns an mbarrier, and sets `within` to the address in that CTA. The barrier need not be
/// initialized.
Cta *findBarrierAddress(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, bool onlyThisCta,
                        uint32_t &within);

/// Returns "mbarrier at shared+57344", with the owner if there are several CTAs.
std::string barrierName(const Cta &cta, uint32_t address);
std::string faultText(MbarrierFault fault, const BarrierRef &ref, uint64_t amount);
/// Reports `fault`. Returns Step::Fault, or Step::Next if there was no fault.
Step reportFault(Warp &warp, const SourceLoc &loc, unsigned lane, MbarrierFault fault, const BarrierRef &ref,
                 uint64_t amount);
/// Describes what the current phase of a barrier still lacks, and who arrived in the previous phase; for threads that
/// wait.
std::string describeBarrierWait(const BarrierRef &ref);

/// Records that `warp` takes part in the current phase; deadlock reports list the participants.
void noteArrival(Mbarrier &barrier, const Warp &warp);

/// Records that a copy has been issued that will signal the barrier. Returns the epoch that covers the copy.
Epoch announceCopy(const BarrierRef &ref, Warp &warp, const SourceLoc &loc, unsigned lane, uint32_t bytes);
/// Records that a part of a copy has completed (complete_tx). `issuer` is for reports.
void finishCopy(Cta &cta, uint32_t address, uint32_t bytes, const Actor &issuer);

/// Returns the lanes of `remaining` whose address equals the address of the first of them.
LaneMask lanesOfSameAddress(const Warp &warp, const AddressSource &source, LaneMask remaining, uint64_t &address);

} // namespace tile::sim
