// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers: the sixteen named barriers of a CTA, the barrier of a cluster, and mbarrier objects in shared memory.
#pragma once

#include "Simulator/Check/Checker.h"

namespace tile::sim {

/// A barrier at which a known number of threads arrive: bar.sync, bar.arrive, bar.red, barrier.cluster.
/// PTX ISA 9.7.13.1.
struct NamedBarrier {
  uint32_t expected = 0; ///< threads of this phase, in whole warps; 0: none has arrived
  uint32_t arrived = 0;
  uint32_t arrivedWarps = 0; ///< threads of the CTA that have arrived in this phase, by index
  bool wholeCta = false;     ///< without a count: all threads that have not exited
  bool isReduction = false;  ///< this phase belongs to a bar.red
  uint64_t phase = 0;        ///< completed phases
  uint32_t reduction[2][3];  ///< result of bar.red (popc, and, or), by the parity of the phase
  SyncClock arriving, completed;
};

/// An mbarrier object. PTX ISA 9.7.13.15: a phase completes when no arrival and no transaction byte is pending.
struct Mbarrier {
  uint32_t expected = 0;    ///< arrivals of a phase
  uint32_t pending = 0;     ///< arrivals missing in this phase
  int64_t transactions = 0; ///< bytes expected and not yet arrived; may be negative for a while
  uint64_t phase = 0;       ///< completed phases; parity of the current one: phase & 1
  SyncClock arriving, completed;
  Component component = noComponent;
  Actor initializedBy;
  int64_t inFlight = 0; ///< bytes of copies in flight that will be counted in this phase
  Actor lastCopy;       ///< the issuer of the last of them
  /// Arrivals in the previous phase and in this one, as rank of the CTA << 8 | warp. Reported at a deadlock.
  std::vector<uint32_t> arrivedBefore, arrivedNow;
};

} // namespace tile::sim
