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

/// What TMA may still be writing.
struct InFlight {
  PointerBases bases;
  bool join(const InFlight &other) { return bases.join(other.bases); }
};

/// The producer reads nothing that the program writes (RolePlan).
bool isOfProducer(Operation *op) {
  auto roles = op->getParentOfType<cta::WarpRolesOp>();
  return roles && roles.getProducer().isAncestor(op->getParentRegion());
}

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

/// What the operation accesses by itself.
Value getAccessed(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPtr();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getPtr();
  if (auto update = dyn_cast<AtomicRmwOp>(op))
    return update.getPtr();
  if (auto swap = dyn_cast<AtomicCasOp>(op))
    return swap.getPtr();
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return copy.getPtr();
  if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
    return load.getDesc();
  return Value();
}

struct CtaAwaitStores : tile::impl::CtaAwaitStoresBase<CtaAwaitStores> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> waiting;
    InFlight none;
    flowThrough<InFlight>(getOperation().getBody().front(), none, [&](Operation *op, InFlight &state) {
      if (isOfProducer(op))
        return;
      Value accessed = getAccessed(op);
      bool depends =
          (accessed && PointerBases::of(accessed).mayOverlap(state.bases)) || (releases(op) && !state.bases.isEmpty());
      if (depends)
        waiting.insert(op);
      if (waiting.contains(op))
        state.bases.clear();
      if (auto store = dyn_cast<cta::TmaStoreOp>(op))
        state.bases.join(PointerBases::of(store.getDesc()));
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
