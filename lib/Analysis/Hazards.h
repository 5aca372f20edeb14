// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory accesses that need a barrier between them.
//
// Threads of a CTA run at their own pace. If one of two accesses to the same bytes is a write, the second access must
// wait until all threads have executed the first:
//
//   cta.local_store %x, %a            writes pending: a
//   %y = cta.local_load %a            hazard: reads other threads' writes      -> barrier before it
//   cta.local_store %z, %b            hazard if a and b share bytes, because of the pending read of a
//
// An asynchronous copy counts as a write at the following waits, because a thread waits only for its own copies; until
// then it is not a pending access. So a read of a buffer that copies are filling is not a hazard: the program
// guarantees that they fill other slots (cta-pipeline). But the bytes that a copy fills must be free when it starts.
// Likewise, a TMA copy out of a buffer counts as a read at the following cta.tma_store_wait, and a wgmma as a read of
// its operands at the cta.wgmma_wait, or at the wgmma itself if it is synchronous.
//
// Each element of a block is written by one thread, but a block smaller than the CTA is read by several:
//
//   %v = tile.load %x                 all four warps read x[0:32]
//   tile.store %x, %w                 hazard: one warp writes elements that another may not have read yet
//
// So a read of the same elements by several threads and a write through the same parameter, in either order, are a
// hazard, too. So are a read and a write of blocks of one shape whose layouts differ, through one parameter or through
// two of the same type, which may be one tensor that is updated in place:
//
//   %v = tile.load %x                 pairs: thread 0 reads x[0:2]
//   tile.store %x, %w                 hazard: thread 1 writes x[1]
//
// Exceptions are volatile reads, with which a loop may poll for another program, and reads by the first thread only. A
// TMA write waits for the preceding reads; cta-insert-waits makes later accesses wait for the write. The program itself
// must order all other communication between threads (tl.debug_barrier).
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingBarrier {
  mlir::Operation *before;
  bool ofGroups; ///< Whether it suffices to synchronize the warps of each warp group, instead of all warps.
};

/// Returns the operations before which a barrier is missing, in program order: as late as possible, and only where
/// needed. Every buffer must have an allocation with an offset. If each warp group has private rows of a buffer, only
/// accesses by threads of the same group need to be ordered.
llvm::SmallVector<MissingBarrier> findMissingBarriers(KernelOp kernel);

} // namespace tile
