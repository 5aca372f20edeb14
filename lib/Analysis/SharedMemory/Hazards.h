// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds memory accesses that need a barrier between them.
//
// Threads of a CTA run at their own pace. If one of two accesses to the same bytes is a write, the second access must
// wait until all threads have executed the first:
//
//   cta.local_store %x, %a            writes pending: a
//   %y = cta.local_load %a            hazard: reads other threads' writes      -> barrier before it
//   cta.local_store %z, %b            hazard if a and b share bytes, because of the pending read of a
//
// A thread waits only for its own asynchronous copies. So a copy counts as a write at the waits that follow it; until
// then, it is not a pending access. A read of a buffer that copies are filling is therefore not a hazard: the program
// guarantees that they fill other slots (cta-pipeline). But the bytes that a copy fills must be free when the copy
// starts. Likewise, a TMA copy out of a buffer counts as a read at the cta.tma_store_wait that follows it, and a wgmma
// as a read of its operands at the cta.wgmma_wait, or at the wgmma itself if it is synchronous.
//
// Each element of a block is written by one thread, but the elements of a block smaller than the CTA are read by
// several:
//
//   %v = tile.load %x                 all four warps read x[0:32]
//   tile.store %x, %w                 hazard: one warp writes elements that another may not have read yet
//
// So there is also a hazard if several threads read the same elements and another access writes through the same
// parameter, in either order. Finally, there is a hazard if a read and a write access blocks of the same shape with
// different layouts, through one parameter or through two parameters of the same type (which may be one tensor that is
// updated in place):
//
//   %v = tile.load %x                 pairs: thread 0 reads x[0:2]
//   tile.store %x, %w                 hazard: thread 1 writes x[1]
//
// Exceptions are volatile reads, with which a loop may poll for another program, and reads by the first thread only. A
// TMA store waits for the preceding reads, and cta-insert-waits makes later accesses wait for the TMA store. The
// program itself must order all other communication between threads (tl.debug_barrier).
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingBarrier {
  mlir::Operation *before;
  bool ofGroups; ///< Whether it suffices to synchronize the warps of each warp group, instead of all warps.
};

/// Returns the operations before which a barrier is missing, in program order. Barriers are placed as late as possible,
/// and only where they are needed. Every buffer must have an allocation with an offset. If each warp group has private
/// rows of a buffer, only accesses by threads of the same group need to be ordered.
llvm::SmallVector<MissingBarrier> findMissingBarriers(KernelOp kernel);

} // namespace tile
