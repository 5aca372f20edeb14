// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where stores by TMA have to be complete that may not be.
//
// cta.tma_store returns at once, and a plain cta.tma_store_wait only knows that buffers have been read. What the
// program reads back, and what others may read once a barrier or an atomic operation says so, has to be in memory:
//
//   cta.tma_store %b, %y[%i, %j]              cta.tma_store %b, %y[%i, %j]
//   tile.atomic_rmw add acq_rel %lock   ==>   cta.tma_store_wait 0 written
//                                             tile.barrier
//                                             tile.atomic_rmw add acq_rel %lock
//
// The thread that has issued the copies waits, and the barrier passes on what it knows then (PTX ISA,
// "cp.async.bulk.wait_group" and "Async proxy": completion is followed by a proxy fence). Of the tensors that the
// program's pointers reach, stores become copies only where nothing follows (tile-raise-descriptors); so this is for
// descriptors that it writes through.
//
// Copies that may write the same element (Analysis/StorePlaces) follow each other: a wait before the later one,
// without a barrier where one thread issues both. The panels of a block and blocks side by side overlap in flight.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingStoreWait {
  mlir::Operation *before;
  bool forAllThreads; ///< Not only the thread that has issued the copies must know that they are complete.
};

/// The operations that rely on stores by TMA and before which a wait is missing.
llvm::SmallVector<MissingStoreWait> findMissingStoreWaits(KernelOp kernel);

} // namespace tile
