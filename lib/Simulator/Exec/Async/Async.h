// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decoders of this folder, by instruction name, and helpers that its files share.
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Exec/MemoryPort.h"

namespace tile::sim {

Result<OperationPtr> decodeBar(Decoding &decoding);            // bar
Result<OperationPtr> decodeBarrier(Decoding &decoding);        // barrier
Result<OperationPtr> decodeClusterBarrier(Decoding &decoding); // barrier.cluster, from the suffix after `.cluster` on
Result<OperationPtr> decodeWarpBarrier(Decoding &decoding);    // bar.warp.sync, from the suffix after `.warp` on
Result<OperationPtr> decodeMbarrier(Decoding &decoding);       // mbarrier
Result<OperationPtr> decodeCopy(Decoding &decoding);           // cp
Result<OperationPtr> decodeLaneCopy(Decoding &decoding);       // cp.async, from the suffix after `.async` on
Result<OperationPtr> decodeCopyGroups(Decoding &decoding);     // cp.async.*_group, from the suffix after `.async` on
Result<OperationPtr> decodeBulkGroups(Decoding &decoding); // cp.async.bulk.*_group, from the suffix after `.bulk` on
Result<OperationPtr> decodeBulkCopy(Decoding &decoding);   // cp{.reduce}.async.bulk, from the suffix after `.bulk` on
Result<OperationPtr>
decodeTensorCopy(Decoding &decoding); // cp{.reduce}.async.bulk.tensor, from the suffix after `.tensor` on
Result<OperationPtr>
decodeTensorPrefetch(Decoding &decoding); // cp.async.bulk.prefetch.tensor, from the suffix after `.tensor` on
Result<OperationPtr> decodeTensorMapChange(Decoding &decoding); // tensormap
Result<OperationPtr> decodeLaunchControl(Decoding &decoding);   // clusterlaunchcontrol
Result<OperationPtr> decodeSetMaxRegisters(Decoding &decoding); // setmaxnreg

/// An operation that the lanes execute one after another, until one of them fails or has to wait.
class LaneByLaneOperation : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const final {
    for (; active; active &= active - 1)
      if (Step step = executeLane(warp, firstLane(active)); step != Step::Next)
        return step;
    return Step::Next;
  }

private:
  virtual Step executeLane(Warp &warp, unsigned lane) const = 0;
};

inline Checker *checkerOf(const Warp &warp) {
  return warp.cta.cluster.machine.checker;
}

/// Returns the operation, or an error if one of its operands was invalid.
inline Result<OperationPtr> decoded(Decoding &decoding, OperationPtr operation) {
  if (decoding.failed)
    return decoding.error(decoding.failure);
  return operation;
}

} // namespace tile::sim
