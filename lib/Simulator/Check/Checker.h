// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events that the machine reports to the checker: memory accesses and synchronization. A null Checker pointer turns
// checking off.
//
// Happens-before is tracked by vector clocks (FastTrack: Flanagan and Freund, PLDI 2009), with one component for each
// thing that a thread can wait for (see Component). An asynchronous operation is checked when it is issued, with the
// issuer's clock, and recorded with the epoch that will cover it: any later access to its bytes must have waited for
// that epoch. So a missing wait is found under every schedule.
//
// Rules for the callers (operations in Exec/, barriers in Machine/):
#pragma once

#include "Simulator/Check/Clock.h"

#include <memory>
#include <string>

namespace tile::sim {

class Cta;
class Footprint;
class Machine;

/// An access to tensor memory by a tcgen05 instruction.
struct TensorAccess {
  SourceLoc loc;
  unsigned lane = 0;         ///< the warp that has issued it
  bool isCollective = false; ///< accesses of a whole warp: alloc, dealloc, ld, st
  bool isPipelined = false;  ///< accesses of the tensor core, which executes the operations of one thread in order
  bool isAllocation = false; ///< discards the contents of the bytes
  AccessKind kind = AccessKind::Read;
  Range range;
  Epoch finished; ///< the event that marks its end; noComponent: it ends with the instruction
};

/// An access to an mbarrier object. Init and Invalidate create and destroy the object. AsyncUse: by an asynchronous
/// copy.
enum class BarrierUse : uint8_t { Init, Invalidate, Use, AsyncUse };

class Checker {
public:
  virtual ~Checker() = default;

  /// Sets the name of a component for messages: "mbarrier at shared+57344", "bulk copies of warp 4".
  virtual Component addComponent(std::string what) = 0;

  /// Begin and end of a CTA's warps. Everything visible at the grid's launch happens before a warp's begin.
  virtual void startCta(Cta &cta) = 0;
  virtual void endCta(Cta &cta) = 0;
  /// Compares the accesses of the grid's clusters, after the last CTA.
  virtual void endGrid() = 0;

  /// A load, store or atomic of a warp, before it happens. Order and scope of atomics and of st.release/ld.acquire are
  /// in `access`; the operations that they synchronize with are found by address.
  virtual void access(Warp &warp, const LaneAccess &access) = 0;

  /// An asynchronous operation reads or writes `range`. It was issued by `lane` of `warp` at `loc`, through the async
  /// proxy if `proxy` (cp.async uses the generic proxy). It has finished for every clock that includes the epoch
  /// `finished`.
  virtual void asyncAccess(Warp &warp, unsigned lane, const SourceLoc &loc, AccessKind kind, const Range &range,
                           bool proxy, Epoch finished) = 0;

  virtual void tensorAccess(Warp &warp, const TensorAccess &access) = 0;

  virtual void release(Warp &warp, SyncClock &into, LaneMask lanes = allLanes) = 0;
  virtual void acquire(Warp &warp, const SyncClock &from, LaneMask lanes = allLanes) = 0;
  /// Each of the lanes has waited for its own operations; `collective`: for those of the whole warp (wgmma).
  virtual void raise(Warp &warp, Epoch epoch, LaneMask lanes = allLanes, bool collective = false) = 0;
  /// An asynchronous operation of `warp` has finished and signals `into`: cp.async.mbarrier.arrive.
  virtual void releaseEpoch(Epoch epoch, SyncClock &into) = 0;

  /// Relaxed arrivals and waits order nothing but tensor memory, together with tcgen05.fence (PTX ISA 9.7.16.6.4).
  virtual void releaseTensor(Warp &warp, SyncClock &into) = 0;
  virtual void acquireTensor(Warp &warp, const SyncClock &from) = 0;
  /// tcgen05.fence::before_thread_sync, or ::after_thread_sync.
  virtual void fenceTensor(Warp &warp, bool isBefore) = 0;
  /// Returns true if the lane has waited for the epoch.
  virtual bool knows(Warp &warp, unsigned lane, Epoch epoch) = 0;
  /// Returns true if a thread of the warp has waited for an action of a thread of `peer`, which proves that `peer` has
  /// begun.
  virtual bool hasMet(Warp &warp, const Cta &peer) = 0;

  /// fence.proxy.async: makes everything that the warp knows visible to asynchronous operations.
  virtual void fenceAsync(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.mbarrier_init: the same for the mbarrier objects that these lanes have initialized.
  virtual void fenceBarrierInit(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.acq_rel, fence.sc, membar: orders relaxed atomics around it.
  virtual void fence(Warp &warp, Scope scope, LaneMask lanes = allLanes) = 0;
  /// Lanes of `mask` synchronize and see each other's writes: bar.warp.sync. Not called for shfl, vote and similar
  /// instructions, which do not order memory (PTX ISA 9.7.9).
  virtual void syncLanes(Warp &warp, LaneMask mask) = 0;

  /// Bytes that get values without a store of the program (zero fill by cp.async, st.async …) are also reported as
  /// accesses. An mbarrier object is not data: loads and stores of its 8 bytes are errors. `offset` is relative to
  /// sharedBase, as in Range.
  virtual void barrierAccess(Warp &warp, LaneMask lanes, const SourceLoc &loc, Cta &cta, uint32_t offset,
                             BarrierUse use) = 0;
};

/// Finds races, uses before a wait, missing fences and uninitialized reads; see HappensBefore.h. Reports to
/// `machine.reports`. `footprint`, if not null, collects the bytes of global memory that the grid accesses.
std::unique_ptr<Checker> makeHappensBefore(const Machine &machine, Footprint *footprint = nullptr);

} // namespace tile::sim
