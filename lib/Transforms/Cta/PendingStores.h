// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds where TMA stores that may be incomplete must be complete.
//
// cta.tma_store returns immediately, and a plain cta.tma_store_wait only ensures that the buffers have been read. But
// the data must have reached memory before the program reads it back, or before a barrier or an atomic operation allows
// other threads to read it:
//
//   cta.tma_store %b, %y[%i, %j]              cta.tma_store %b, %y[%i, %j]
//   tile.atomic_rmw add acq_rel %lock   ==>   cta.tma_store_wait 0 written
//                                             tile.barrier
//                                             tile.atomic_rmw add acq_rel %lock
//
// The thread that issued the copies waits, and the barrier makes their completion known to the other threads (PTX ISA,
// "cp.async.bulk.wait_group" and "Async proxy": completion is followed by a proxy fence). Stores through the program's
// pointers become copies only where nothing depends on them (tile-raise-descriptors), so waits are needed only for
// descriptors through which the program itself writes.
//
// Two copies that may write the same element (Transforms/Cta/StoreOverlap) are ordered by a wait before the later copy,
// without a barrier if one thread issues both. Copies of the panels of one block, and of adjacent blocks, may be in
// flight at the same time.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingStoreWait {
  mlir::Operation *before;
  /// Whether all threads must know that the copies are complete, not only the thread that issued them.
  bool forAllThreads;
};

/// Returns the operations that depend on TMA stores and before which a wait is missing.
llvm::SmallVector<MissingStoreWait> findMissingStoreWaits(KernelOp kernel);

} // namespace tile
