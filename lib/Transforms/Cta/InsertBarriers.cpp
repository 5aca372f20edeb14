// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-insert-barriers: order memory accesses by barriers.
//
// Inserts a barrier directly before each operation that needs one. Analysis/SharedMemory/Hazards.h finds these
// operations after buffers have been placed, because buffers that share bytes have hazards between them.
//
//   cta.local_store %x, %a              cta.local_store %x, %a
//   %y = cta.local_load %a      ==>     cta.barrier
//                                       %y = cta.local_load %a
//
// The program's own barriers (tile.barrier) lower to the same instruction and are taken into account.
//
// In a pipelined loop, one barrier per iteration is enough. It comes after the wait and before the copy into the slot
// that the previous iteration has read, and also makes the arrived data visible to this iteration's loads.
//
// If a block is smaller than the CTA, several threads hold an element, and one of them stores it. If the block is
// updated in place, all of these threads have to read the element before the storing thread writes it, which takes a
// barrier. But if only stores use the loaded value, it suffices that the storing thread reads it:
//
//   %v = tile.load %x        ==>        %v = tile.load %x first
//   tile.store %x, %w                   tile.store %x, %w               no barrier
#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/SharedMemory/Hazards.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAINSERTBARRIERS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns true if the loaded value is used only by stores, by each thread for its own elements.
bool isOnlyStored(LoadOp load) {
  llvm::SetVector<Value> values;
  values.insert(load.getResult());
  for (size_t index = 0; index < values.size(); ++index)
    for (OpOperand &use : values[index].getUses()) {
      auto store = dyn_cast<StoreOp>(use.getOwner());
      if (store && use.get() == store.getValue() && use.get() != store.getPtr() && use.get() != store.getMask())
        continue;
      if (!isElementwise(use.getOwner()) || !isMemoryEffectFree(use.getOwner()))
        return false;
      values.insert_range(use.getOwner()->getResults());
    }
  return true;
}

/// Marks loads of blocks that are updated in place, if more threads read an element than store it.
void reuseReads(KernelOp kernel) {
  PointerBases written;
  kernel.walk([&](Operation *op) { written.join(PointerBases::writtenBy(op)); });
  kernel.walk([&](LoadOp load) {
    auto block = dyn_cast<RankedTensorType>(load.getType());
    if (!block || load.getIsVolatile() || !PointerBases::of(load.getPtr()).mayOverlap(written) || !isOnlyStored(load))
      return;
    const layout::LinearLayout &layout = cta::getLayout(block);
    load.setFirst(layout.hasBroadcast(layout::warpDim) || layout.hasBroadcast(layout::laneDim));
  });
}

struct CtaInsertBarriers : tile::impl::CtaInsertBarriersBase<CtaInsertBarriers> {
  void runOnKernel() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      for (Value operand : op->getOperands()) {
        if (!isa<cta::BufferType>(operand.getType()))
          continue;
        cta::AllocOp alloc = getAlloc(operand);
        if (!alloc || !alloc.getOffset())
          return op->emitOpError() << "uses a buffer without an offset; run cta-allocate-shared first";
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    SmallVector<BarrierOp> ofProgram;
    getOperation().walk([&](BarrierOp barrier) { ofProgram.push_back(barrier); });
    for (BarrierOp barrier : ofProgram) {
      insertBarrier(barrier, /*ofGroups=*/false);
      barrier.erase();
    }
    reuseReads(getOperation());
    for (auto [op, ofGroups] : findMissingBarriers(getOperation()))
      insertBarrier(op, ofGroups);
  }

private:
  void insertBarrier(Operation *before, bool ofGroups) {
    OpBuilder builder(before);
    cta::BarrierOp::create(builder, before->getLoc(), ofGroups);
  }
};

} // namespace
