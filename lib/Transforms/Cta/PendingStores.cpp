// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tracks TMA stores that may be incomplete, along all paths of the kernel.
#include "Transforms/Cta/PendingStores.h"

#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Flow/StructuredFlow.h"
#include "Transforms/Cta/StoreOverlap.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// Returns true if other threads that see the effect of this operation may rely on the accesses before it.
bool releases(Operation *op) {
  auto isRelease = [](MemoryOrder order) { return order == MemoryOrder::release || order == MemoryOrder::acq_rel; };
  if (auto update = dyn_cast<AtomicRmwOp>(op))
    return isRelease(update.getOrder());
  if (auto swap = dyn_cast<AtomicCasOp>(op))
    return isRelease(swap.getOrder());
  if (auto text = dyn_cast<InlineAsmOp>(op))
    return !text.getIsPure() && !text.getArgs().empty(); // the address operand
  return isa<BarrierOp>(op);
}

/// Returns the memory that the operation itself reads or writes.
PointerBases accessedBy(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return PointerBases::of(load.getPtr());
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return PointerBases::of(copy.getPtr());
  if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
    return PointerBases::of(load.getDesc());
  // TMA copies are handled by StoreWaits.
  return isa<cta::TmaStoreOp>(op) ? PointerBases() : PointerBases::writtenBy(op);
}

/// Memory that TMA may still be writing.
struct PendingStore {
  PointerBases bases;
  /// The operations that write this memory, each with 0 or 1: 1 if the write was issued in an earlier iteration of a
  /// loop that is still running.
  llvm::SmallSetVector<std::pair<Operation *, unsigned>, 8> copies;

  bool join(const PendingStore &other) {
    size_t before = copies.size();
    copies.insert(other.copies.begin(), other.copies.end());
    return bases.join(other.bases) || copies.size() != before;
  }
  void clear() { *this = PendingStore(); }
};

class StoreWaits {
public:
  explicit StoreWaits(KernelOp kernel) : kernel(kernel), overlap(kernel) {}

  llvm::MapVector<Operation *, bool> find() {
    PendingStore none;
    flowThrough<PendingStore>(kernel.getBody().front(), none,
                              [&](Operation *op, PendingStore &pending) { visit(op, pending); });
    return std::move(waiting);
  }

private:
  void visit(Operation *op, PendingStore &pending) {
    if (accessedBy(op).mayOverlap(pending.bases) || (releases(op) && !pending.bases.isEmpty()))
      waiting[op] = true;
    auto store = dyn_cast<cta::TmaStoreOp>(op);
    if (store)
      waitForCopies(store, pending);
    if (waiting.contains(op))
      pending.clear();
    if (store) {
      pending.bases.join(PointerBases::writtenBy(op));
      pending.copies.insert({op, 0});
    }
    if (isa<scf::YieldOp, YieldOp>(op) && isa<LoopLikeOpInterface>(op->getParentOp()))
      endIteration(op->getParentOp(), pending);
  }

  void waitForCopies(cta::TmaStoreOp store, const PendingStore &pending) {
    for (auto [op, isOfOtherIteration] : pending.copies) {
      auto earlier = cast<cta::TmaStoreOp>(op);
      if (overlap.mayOverlap(earlier, store, isOfOtherIteration))
        waiting[store] |= !overlap.areOfOneThread(earlier, store);
    }
  }

  void endIteration(Operation *loop, PendingStore &pending) {
    auto copies = pending.copies.takeVector();
    for (auto [op, isOfOtherIteration] : copies)
      if (!loop->isAncestor(op) || !isa<ProgramsOp>(loop))
        pending.copies.insert({op, isOfOtherIteration || loop->isAncestor(op) ? 1 : 0});
  }

  KernelOp kernel;
  StoreOverlap overlap;
  llvm::MapVector<Operation *, bool> waiting;
};

} // namespace

SmallVector<MissingStoreWait> tile::findMissingStoreWaits(KernelOp kernel) {
  const bool hasCopies = kernel.walk([](cta::TmaStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!hasCopies)
    return {};
  return llvm::map_to_vector(StoreWaits(kernel).find(),
                             [](const auto &wait) { return MissingStoreWait{wait.first, wait.second}; });
}
