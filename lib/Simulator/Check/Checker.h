// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine tells the checker: accesses, and what orders them. Null pointers to a Checker mean: no checks.
//
// Happens-before is tracked by vector clocks (FastTrack: Flanagan and Freund, PLDI 2009) whose components are the
// things that one can wait for, see Component. An asynchronous operation is checked when it is issued, with the
// issuer's clock, and recorded with the epoch that will cover it: whoever touches its bytes later must have waited for
// that epoch. So a missing wait is found whatever the schedule was.
//
// Rules for the callers (operations in Exec/, barriers in Machine/):
//   arrive at anything          release(warp, clock of the barrier, lanes that arrive)
//   leave a wait on anything    acquire(warp, clock of the barrier's completed phase, lanes that leave)
//   mbarrier phase p completes  completed.all/fenced join arriving; completed.all.raise({component, p + 1}), fenced too
//   any mbarrier instruction    barrierAccess(…) before it happens; a copy that will signal one: AsyncUse, at issue
//   wait_group                  raise(warp, {component of the groups, number of groups done}, lanes that leave)
//   fence.proxy.async           fenceAsync(warp, lanes); fence.mbarrier_init: fenceBarrierInit(warp, lanes)
//
// `lanes` are the active lanes of the instruction: what one lane has waited for is unknown to the others until they
// meet. allLanes stands for all living lanes of the warp (aligned instructions).
#pragma once

#include "Simulator/Check/Clock.h"

#include <memory>
#include <string>

namespace tile::sim {

class Cta;
class Machine;

/// An access of tensor memory by a tcgen05 instruction.
struct TensorAccess {
  Place place;
  unsigned lane = 0;         ///< which has issued it
  bool isCollective = false; ///< of the whole warp: alloc, dealloc, ld, st
  bool isPipelined = false;  ///< by the tensor core, which executes what one thread has issued in order
  bool isAllocation = false; ///< what the bytes held is gone
  AccessKind kind = AccessKind::Read;
  Range range;
  Epoch finished; ///< noComponent: with the instruction
};

/// Of an mbarrier object. Init, Invalidate: it begins, or ends, to be one. AsyncUse: by an asynchronous copy.
enum class BarrierUse : uint8_t { Init, Invalidate, Use, AsyncUse };

class Checker {
public:
  virtual ~Checker() = default;

  /// `what` for messages: "mbarrier at shared+57344", "bulk copies of warp 4".
  virtual Component addComponent(std::string what) = 0;

  /// Begin and end of a CTA's warps. Everything that the grid's launch saw is before a warp's begin.
  virtual void startCta(Cta &cta) = 0;
  virtual void endCta(Cta &cta) = 0;
  /// After the last CTA: compares what the clusters of the grid did.
  virtual void endGrid() = 0;

  /// A load, store or atomic of a warp, before it happens. Order and scope of atomics and of st.release/ld.acquire are
  /// in `access`; what they synchronise with is found by address.
  virtual void access(Warp &warp, const LaneAccess &access) = 0;

  /// An asynchronous operation reads or writes `range`, issued by `lane` of `warp` at `place`, through the async proxy
  /// (`proxy` true) or not (cp.async is of the generic proxy). Finished for those whose clock has `finished`.
  virtual void asyncAccess(Warp &warp, unsigned lane, const Place &place, AccessKind kind, const Range &range,
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
  /// Whether the lane has waited for the epoch.
  virtual bool knows(Warp &warp, unsigned lane, Epoch epoch) = 0;
  /// Whether a thread of the warp has waited for something that threads of `peer` do: so that it has begun.
  virtual bool hasMet(Warp &warp, const Cta &peer) = 0;

  /// fence.proxy.async: what the warp knows becomes visible to asynchronous operations.
  virtual void fenceAsync(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.mbarrier_init: the same for the mbarrier objects that these lanes have initialised.
  virtual void fenceBarrierInit(Warp &warp, LaneMask lanes = allLanes) = 0;
  /// fence.acq_rel, fence.sc, membar: orders relaxed atomics around it.
  virtual void fence(Warp &warp, Scope scope, LaneMask lanes = allLanes) = 0;
  /// Lanes of `mask` have met, and see each other's writes: bar.warp.sync. Not shfl, vote and the like: they order no
  /// memory (PTX ISA 9.7.9).
  virtual void syncLanes(Warp &warp, LaneMask mask) = 0;

  /// Bytes that now have values without an access by the program (zero fill by cp.async, st.async …) are accesses, too:
  /// there is nothing else. An mbarrier object is not data: loads and stores of its 8 bytes are reported. `offset` is
  /// from sharedBase, as in Range.
  virtual void barrierAccess(Warp &warp, LaneMask lanes, const Place &place, Cta &cta, uint32_t offset,
                             BarrierUse use) = 0;
};

/// Finds races, uses before a wait, missing fences, uninitialised reads; see HappensBefore.h. Reports to
/// `machine.reports`.
std::unique_ptr<Checker> makeHappensBefore(const Machine &machine);

} // namespace tile::sim
