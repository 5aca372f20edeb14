// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase arithmetic of mbarrier objects, PTX ISA 9.7.13.15, and the waiting threads to notify.
//
// A phase completes when no arrival is pending and as many transaction bytes have arrived as were expected. Bytes of
// copies in flight are also counted (`inFlight`): if a phase completes before they have arrived, too few bytes were
// expected.
#pragma once

#include "Simulator/Exec/MemoryPort.h"

namespace tile::sim {

constexpr uint32_t maxArrivals = (1u << 20) - 1;
constexpr int64_t maxTransactionBytes = (1 << 20) - 1;
constexpr uint32_t mbarrierBytes = 8;

enum class MbarrierFault : uint8_t {
  None,
  TooManyArrivals,     ///< more arrivals than the phase has pending
  TransactionOverflow, ///< of the 20 bits of the transaction count
  CopyInFlight         ///< the phase has completed without bytes that are in flight
};

MbarrierFault arrive(Mbarrier &barrier, uint32_t count);
/// arrive_drop: later phases also expect `count` arrivals less.
MbarrierFault arriveAndDrop(Mbarrier &barrier, uint32_t count);
MbarrierFault expectTransaction(Mbarrier &barrier, uint32_t bytes);
MbarrierFault completeTransaction(Mbarrier &barrier, uint32_t bytes);

/// The result of mbarrier.arrive: the phase and the pending arrivals before it.
inline uint64_t mbarrierToken(const Mbarrier &barrier) {
  return barrier.phase << 20 | barrier.pending;
}
inline uint64_t phaseOfToken(uint64_t token) {
  return token >> 20;
}
inline uint32_t pendingOfToken(uint64_t token) {
  return token & maxArrivals;
}

/// A barrier that an instruction names.
struct BarrierRef {
  Cta *cta = nullptr;
  uint32_t address = 0;
  Mbarrier *barrier = nullptr;
  explicit operator bool() const { return barrier; }
};

/// Returns the barrier at a shared address, or at a generic one in shared memory, for `lanes`, which all use it.
/// Informs the checker. Null after a report: not shared memory, misaligned, no barrier there. `onlyThisCta`: the
/// instruction does not accept a peer's barrier.
BarrierRef findBarrier(Warp &warp, const SourceLoc &loc, LaneMask lanes, uint64_t address, bool onlyThisCta,
                       BarrierUse use = BarrierUse::Use);
/// Returns the barrier at `address` in a certain CTA of the cluster, for multicasts.
BarrierRef findBarrierIn(Warp &warp, const SourceLoc &loc, LaneMask lanes, Cta &cta, uint32_t address, BarrierUse use);
/// Returns the location of an mbarrier, whether it is initialized or not.
Cta *findBarrierAddress(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, bool onlyThisCta,
                        uint32_t &within);

/// Returns "mbarrier at shared+57344", with its owner if there are several CTAs.
std::string barrierName(const Cta &cta, uint32_t address);
std::string faultText(MbarrierFault fault, const BarrierRef &ref, uint64_t amount);
/// Reports an error; returns Next or Fault.
Step reportFault(Warp &warp, const SourceLoc &loc, unsigned lane, MbarrierFault fault, const BarrierRef &ref,
                 uint64_t amount);
/// Describes, for a thread that waits for the current phase, what is missing and who arrived in the previous phase.
std::string describeBarrierWait(const BarrierRef &ref);

/// Records that `warp` takes part in the current phase; deadlock reports list the participants.
void noteArrival(Mbarrier &barrier, const Warp &warp);

/// A copy has been issued that will signal the barrier: sets the epoch that covers it.
Epoch announceCopy(const BarrierRef &ref, Warp &warp, const SourceLoc &loc, unsigned lane, uint32_t bytes);
/// A part of such a copy has completed: complete_tx. `issuer` is for reports.
void finishCopy(Cta &cta, uint32_t address, uint32_t bytes, const Actor &issuer);

/// Returns the lanes of `remaining` whose address equals that of its first lane.
LaneMask lanesOfSameAddress(const Warp &warp, const AddressSource &source, LaneMask remaining, uint64_t &address);

} // namespace tile::sim
