// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers: the sixteen named barriers of a CTA, the barrier of a cluster, and mbarrier objects in shared memory.
#pragma once

#include "Simulator/Check/Checker.h"

namespace tile::sim {

/// A barrier at which a known number of threads arrive: bar.sync, bar.arrive, bar.red, barrier.cluster.
/// PTX ISA 9.7.13.1.
struct NamedBarrier {
  uint32_t expected = 0; ///< threads that complete this phase, a multiple of the warp size; 0: none has arrived
  uint32_t arrived = 0;
  uint32_t arrivedWarps = 0; ///< bit i is set if warp i of the CTA has arrived in this phase
  bool wholeCta = false;     ///< the instruction gives no count, so all threads that have not exited take part
  bool isReduction = false;  ///< this phase belongs to a bar.red
  uint64_t phase = 0;        ///< number of completed phases
  uint32_t reduction[2][3];  ///< results of bar.red (popc, and, or), by the parity of the phase
  SyncClock arriving, completed;
};

/// An mbarrier object (PTX ISA 9.7.13.15). A phase completes when no arrivals and no transaction bytes are pending.
struct Mbarrier {
  uint32_t expected = 0;    ///< number of arrivals that complete a phase
  uint32_t pending = 0;     ///< number of arrivals still missing in this phase
  int64_t transactions = 0; ///< bytes that are expected and have not arrived; may be negative temporarily
  uint64_t phase = 0;       ///< number of completed phases; the parity of the current phase is phase & 1
  SyncClock arriving, completed;
  Component component = noComponent;
  Actor initializedBy;
  int64_t inFlight = 0; ///< bytes of copies in flight that will be counted in this phase
  Actor lastCopy;       ///< the issuer of the last of these copies
  /// The arrivals in the previous phase and in this one, each as rank of the CTA << 8 | warp; for reports of deadlocks.
  std::vector<uint32_t> arrivedBefore, arrivedNow;
};

} // namespace tile::sim
