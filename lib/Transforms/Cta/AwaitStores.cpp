// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-await-stores: have written what TMA writes before anything may depend on it.
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
#include "Analysis/PointerBases.h"
#include "Analysis/RolePlan.h"
#include "Analysis/StorePlaces.h"
#include "Analysis/StructuredFlow.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAAWAITSTORES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Whether others, who see that the operation is done, may rely on what was before it.
bool releases(Operation *op) {
  auto isRelease = [](MemoryOrder order) { return order == MemoryOrder::release || order == MemoryOrder::acq_rel; };
  if (auto update = dyn_cast<AtomicRmwOp>(op))
    return isRelease(update.getOrder());
  if (auto swap = dyn_cast<AtomicCasOp>(op))
    return isRelease(swap.getOrder());
  if (auto text = dyn_cast<InlineAsmOp>(op))
    return !text.getIsPure() && !text.getArgs().empty(); // an address
  return isa<BarrierOp>(op);
}

/// What the operation reads or writes by itself.
PointerBases accessedBy(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return PointerBases::of(load.getPtr());
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return PointerBases::of(copy.getPtr());
  if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
    return PointerBases::of(load.getDesc());
  // For copies by TMA see Waits.
  return isa<cta::TmaStoreOp>(op) ? PointerBases() : PointerBases::writtenBy(op);
}

/// What TMA may still be writing.
struct Pending {
  PointerBases bases;
  /// By which operation, and whether (0 or 1) in an earlier iteration of a loop that goes on.
  llvm::SmallSetVector<std::pair<Operation *, unsigned>, 8> copies;

  bool join(const Pending &other) {
    size_t before = copies.size();
    copies.insert(other.copies.begin(), other.copies.end());
    return bases.join(other.bases) || copies.size() != before;
  }
  void clear() { *this = Pending(); }
};

class Waits {
public:
  explicit Waits(KernelOp kernel) : kernel(kernel), places(kernel) {}

  /// The operations that wait, and whether all threads must have waited.
  llvm::MapVector<Operation *, bool> find() {
    Pending none;
    flowThrough<Pending>(kernel.getBody().front(), none, [&](Operation *op, Pending &pending) {
      if (!isOfProducer(op))
        visit(op, pending);
    });
    return std::move(waiting);
  }

private:
  void visit(Operation *op, Pending &pending) {
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

  void waitForCopies(cta::TmaStoreOp store, const Pending &pending) {
    for (auto [op, isOfOtherIteration] : pending.copies) {
      auto earlier = cast<cta::TmaStoreOp>(op);
      if (places.mayMeet(earlier, store, isOfOtherIteration))
        waiting[store] |= !places.areOfOneThread(earlier, store);
    }
  }

  void endIteration(Operation *loop, Pending &pending) {
    auto copies = pending.copies.takeVector();
    for (auto [op, isOfOtherIteration] : copies)
      if (!loop->isAncestor(op) || !isa<ProgramsOp>(loop))
        pending.copies.insert({op, isOfOtherIteration || loop->isAncestor(op) ? 1 : 0});
  }

  KernelOp kernel;
  StorePlaces places;
  llvm::MapVector<Operation *, bool> waiting;
};

struct CtaAwaitStores : tile::impl::CtaAwaitStoresBase<CtaAwaitStores> {
  void runOnKernel() override {
    bool copies = getOperation().walk([](cta::TmaStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!copies)
      return;
    for (auto [op, needsBarrier] : Waits(getOperation()).find()) {
      OpBuilder builder(op);
      cta::TmaStoreWaitOp::create(builder, op->getLoc(), /*pending=*/0, /*written=*/true);
      if (needsBarrier && !isa<BarrierOp>(op))
        BarrierOp::create(builder, op->getLoc());
    }
  }
};

} // namespace
