// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase arithmetic of mbarrier objects, PTX ISA 9.7.13.15, and who is told about it.
//
// A phase completes at the moment when no arrival is pending and as many transaction bytes have come as were expected.
// Bytes of a copy under way are counted beside these (`inFlight`): a phase that completes before they have come was
// told of too few.
#pragma once

#include "Simulator/Exec/MemoryPort.h"

namespace tile::sim {

constexpr uint32_t mostArrivals = (1u << 20) - 1;
constexpr int64_t mostTransactionBytes = (1 << 20) - 1;
constexpr uint32_t mbarrierBytes = 8;

enum class MbarrierFault : uint8_t {
  None,
  TooManyArrivals,     ///< more than the phase has pending
  TransactionOverflow, ///< of the 20 bits of the transaction count
  CopyInFlight         ///< the phase has completed without bytes that are under way
};

MbarrierFault arrive(Mbarrier &barrier, uint32_t count);
/// arrive_drop: the phases after this one expect `count` arrivals less, too.
MbarrierFault arriveAndDrop(Mbarrier &barrier, uint32_t count);
MbarrierFault expectTransaction(Mbarrier &barrier, uint32_t bytes);
MbarrierFault completeTransaction(Mbarrier &barrier, uint32_t bytes);

/// What mbarrier.arrive returns: the phase and the pending arrivals before it.
inline uint64_t mbarrierToken(const Mbarrier &barrier) {
  return barrier.phase << 20 | barrier.pending;
}
inline uint64_t phaseOfToken(uint64_t token) {
  return token >> 20;
}
inline uint32_t pendingOfToken(uint64_t token) {
  return token & mostArrivals;
}

/// A barrier that an instruction names.
struct BarrierRef {
  Cta *cta = nullptr;
  uint32_t address = 0;
  Mbarrier *barrier = nullptr;
  explicit operator bool() const { return barrier; }
};

/// The barrier at a shared address, or at a generic one that is shared, for `lanes`, which all name it. Tells the
/// checker. Null after a report: not shared memory, misaligned, no barrier there. `onlyOwn`: the instruction takes no
/// peer's.
BarrierRef findBarrier(Warp &warp, const Place &place, LaneMask lanes, uint64_t address, bool onlyOwn,
                       BarrierUse use = BarrierUse::Use);
/// The barrier at `address` in a certain CTA of the cluster: for multicasts.
BarrierRef findBarrierIn(Warp &warp, const Place &place, LaneMask lanes, Cta &cta, uint32_t address, BarrierUse use);
/// Where an mbarrier may be, whether there is one or not.
Cta *findBarrierPlace(Warp &warp, const Place &place, unsigned lane, uint64_t address, bool onlyOwn, uint32_t &within);

/// "mbarrier at shared+57344", and whose if there are several CTAs.
std::string barrierName(const Cta &cta, uint32_t address);
std::string faultText(MbarrierFault fault, const BarrierRef &ref, uint64_t amount);
/// Reports what is wrong; Next or Fault.
Step reportFault(Warp &warp, const Place &place, unsigned lane, MbarrierFault fault, const BarrierRef &ref,
                 uint64_t amount);
/// Of what waits for the completion of the current phase: what is missing, and who came in the phase before.
std::string describeBarrierWait(const BarrierRef &ref);

/// Notes for the report of a deadlock that `warp` takes part in the current phase.
void noteArrival(Mbarrier &barrier, const Warp &warp);

/// A copy has been issued that will signal the barrier: the epoch that covers it.
Epoch announceCopy(const BarrierRef &ref, Warp &warp, const Place &place, unsigned lane, uint32_t bytes);
/// A part of such a copy has been done: complete_tx. `issuer` for reports.
void finishCopy(Cta &cta, uint32_t address, uint32_t bytes, const Actor &issuer);

/// The lanes of `rest` whose address is that of its first lane.
LaneMask lanesOfSameAddress(const Warp &warp, const AddressSource &source, LaneMask rest, uint64_t &address);

} // namespace tile::sim
