// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events that the machine reports to the checker: memory accesses and synchronization. A null Checker pointer turns
// checking off.
//
// Happens-before is tracked by vector clocks (FastTrack: Flanagan and Freund, PLDI 2009), with one component for each
// entity that a thread can wait for (see Component). An asynchronous operation is checked when it is issued, against
// the issuer's clock, and is recorded with the epoch that marks its completion: any later access to the same bytes must
// have waited for that epoch. A missing wait is therefore found under every schedule.
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
  unsigned lane = 0;         ///< the lane that issued it
  bool isCollective = false; ///< an access by a whole warp: alloc, dealloc, ld, st
  bool isPipelined = false;  ///< an access by the tensor core, which executes the operations of one thread in order
  bool isAllocation = false; ///< discards the contents of the bytes
  AccessKind kind = AccessKind::Read;
  Range range;
  Epoch finished; ///< the epoch of its completion; noComponent: it completes with the instruction
};

/// The kinds of accesses to an mbarrier object: Init and Invalidate create and destroy the object, Use is any other
/// mbarrier instruction, and AsyncUse is an arrival by an asynchronous operation.
enum class BarrierUse : uint8_t { Init, Invalidate, Use, AsyncUse };

class Checker {
public:
  virtual ~Checker() = default;

  /// Creates a component, which messages call `what`: "mbarrier at shared+57344", "bulk copies of warp 4".
  virtual Component addComponent(std::string what) = 0;

  /// Begin and end the warps of a CTA. Everything that is visible when the grid is launched happens before the warps
  /// begin.
  virtual void startCta(Cta &cta) = 0;
  virtual void endCta(Cta &cta) = 0;
  /// Compares the accesses of the grid's clusters with each other, after the last CTA has ended.
  virtual void endGrid() = 0;

  /// Checks a load, store or atomic of a warp, before it is executed. `access` contains the order and scope of atomics,
  /// st.release and ld.acquire; the operations that they synchronize with are found by address.
  virtual void access(Warp &warp, const LaneAccess &access) = 0;

  /// Checks an asynchronous operation that reads or writes `range`. It was issued by `lane` of `warp` at `loc`, and
  /// uses the async proxy if `proxy` is set (cp.async uses the generic proxy). A clock that includes the epoch
  /// `finished` happens after the operation.
  virtual void asyncAccess(Warp &warp, unsigned lane, const SourceLoc &loc, AccessKind kind, const Range &range,
                           bool proxy, Epoch finished) = 0;

  virtual void tensorAccess(Warp &warp, const TensorAccess &access) = 0;

  virtual void release(Warp &warp, SyncClock &into, LaneMask lanes = allLanes) = 0;
  virtual void acquire(Warp &warp, const SyncClock &from, LaneMask lanes = allLanes) = 0;
  /// Records that each of `lanes` has waited until its own operations up to `epoch` finished or, if `collective` is
  /// set, until those of the whole warp finished (wgmma).
  virtual void raise(Warp &warp, Epoch epoch, LaneMask lanes = allLanes, bool collective = false) = 0;
  /// Records that an asynchronous operation of `warp` has finished and signals `into`: cp.async.mbarrier.arrive.
  virtual void releaseEpoch(Epoch epoch, SyncClock &into) = 0;

  /// Relaxed arrivals and waits order only accesses to tensor memory, and only with tcgen05.fence (PTX ISA 9.7.16.6.4).
  virtual void releaseTensor(Warp &warp, SyncClock &into) = 0;
  virtual void acquireTensor(Warp &warp, const SyncClock &from) = 0;
  /// Executes tcgen05.fence::before_thread_sync (`isBefore`) or ::after_thread_sync.
  virtual void fenceTensor(Warp &warp, bool isBefore) = 0;
  /// Returns true if the lane has waited for the epoch.
  virtual bool knows(Warp &warp, unsigned lane, Epoch epoch) = 0;
  /// Returns true if a thread of the warp has waited for an action of a thread of `peer`, which proves that `peer` has
  /// begun.
  virtual bool hasMet(Warp &warp, const Cta &peer) = 0;

  /// fence.proxy.async: makes everything that happened before in the warp's clock visible to asynchronous operations.
  virtual void fenceAsync(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.mbarrier_init: makes the mbarrier objects that these lanes have initialized visible to asynchronous
  /// operations and to the cluster.
  virtual void fenceBarrierInit(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.acq_rel, fence.sc, membar: orders the relaxed atomics before and after it.
  virtual void fence(Warp &warp, Scope scope, LaneMask lanes = allLanes) = 0;
  /// Lanes of `mask` synchronize and see each other's writes: bar.warp.sync. Not called for shfl, vote and similar
  /// instructions, which do not order memory (PTX ISA 9.7.9).
  virtual void syncLanes(Warp &warp, LaneMask mask) = 0;

  /// Checks an access to an mbarrier object by an mbarrier instruction. Such an object is not data: loads and stores of
  /// its 8 bytes are errors. `offset` is relative to sharedBase, as in Range.
  /// Bytes that get values without a store of the program (zero fill by cp.async, st.async …) are also reported as
  /// accesses, by asyncAccess().
  virtual void barrierAccess(Warp &warp, LaneMask lanes, const SourceLoc &loc, Cta &cta, uint32_t offset,
                             BarrierUse use) = 0;
};

/// Finds races, uses before a wait, missing fences and uninitialized reads; see HappensBefore.h. Reports to
/// `machine.reports`. `footprint`, if not null, collects the bytes of global memory that the grid accesses.
std::unique_ptr<Checker> makeHappensBefore(const Machine &machine, Footprint *footprint = nullptr);

} // namespace tile::sim
