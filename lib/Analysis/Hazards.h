// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses to memory need a barrier between them.
//
// Threads of a CTA run at their own pace. Of two accesses to the same bytes, one of them a write, the second must wait
// until all threads have done the first:
//
//   cta.local_store %x, %a            writes pending: a
//   %y = cta.local_load %a            hazard: reads what other threads write   -> barrier before it
//   cta.local_store %z, %b            hazard if a and b share bytes, because of the pending read of a
//
// An asynchronous copy counts as a write at the waits that follow it, since a thread waits only for its own copies;
// until then it is not a pending access. So a read of a buffer that copies are running into is not a hazard: the
// program promises that they fill other slots (cta-pipeline). But the bytes that a copy fills must be free when it
// starts. Likewise, a copy by TMA out of a buffer counts as a read at the cta.tma_store_wait that follow it, and a
// product of warp groups as one of its operands at the cta.wgmma_wait, or where it waits for itself.
//
// Elements of a block are written by one thread, but a block smaller than the CTA is read by several:
//
//   %v = tile.load %x                 all four warps read x[0:32]
//   tile.store %x, %w                 hazard: one warp writes what another may still have to read
//
// So a read of the same elements by several threads and a write through the same parameter, in either order, are a
// hazard, too. So are a read and a write of blocks of one shape that give the elements to different threads, through
// one parameter or through two of the same type, which may be one tensor that is updated in place:
//
//   %v = tile.load %x                 pairs: thread 0 reads x[0:2]
//   tile.store %x, %w                 hazard: thread 1 writes x[1]
//
// But not a volatile read, by which a loop may wait for another program, nor one of the first thread only.
// A write by TMA waits for the reads in front of it; what is after it waits by cta-insert-waits. What one thread
// writes and another reads otherwise is the program's to order (tl.debug_barrier).
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingBarrier {
  mlir::Operation *before;
  bool ofGroups; ///< The warps of each warp group need to meet, not all warps.
};

/// The operations before which a barrier is missing, in program order: as late as possible, and none without need.
/// Every buffer has an allocation and that an offset. In a buffer of which each warp group has some rows to itself,
/// only the accesses of one group need to be ordered.
llvm::SmallVector<MissingBarrier> findMissingBarriers(KernelOp kernel);

} // namespace tile
