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
#include "Analysis/PointerBases.h"
#include "Analysis/RolePlan.h"
#include "Analysis/StructuredFlow.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"
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
  // Of two copies by TMA neither waits: who writes an element twice needs a barrier between.
  return isa<cta::TmaStoreOp>(op) ? PointerBases() : PointerBases::writtenBy(op);
}

struct CtaAwaitStores : tile::impl::CtaAwaitStoresBase<CtaAwaitStores> {
  void runOnKernel() override {
    llvm::SetVector<Operation *> waiting;
    // `pending` is what TMA may still be writing.
    PointerBases none;
    flowThrough<PointerBases>(getOperation().getBody().front(), none, [&](Operation *op, PointerBases &pending) {
      if (isOfProducer(op))
        return;
      bool depends = accessedBy(op).mayOverlap(pending) || (releases(op) && !pending.isEmpty());
      if (depends)
        waiting.insert(op);
      if (waiting.contains(op))
        pending.clear();
      if (isa<cta::TmaStoreOp>(op))
        pending.join(PointerBases::writtenBy(op));
    });
    for (Operation *op : waiting) {
      OpBuilder builder(op);
      cta::TmaStoreWaitOp::create(builder, op->getLoc(), /*pending=*/0, /*written=*/true);
      if (!isa<BarrierOp>(op))
        BarrierOp::create(builder, op->getLoc());
    }
  }
};

} // namespace
