// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-insert-barriers: order accesses to memory by barriers.
//
// A barrier directly before each operation that needs one, found by Analysis/Hazards.h after buffers have their
// places, because buffers that share bytes are a hazard to each other.
//
//   cta.local_store %x, %a              cta.local_store %x, %a
//   %y = cta.local_load %a      ==>     cta.barrier
//                                       %y = cta.local_load %a
//
// The program's own barriers (tile.barrier) are the same to the hardware, and count here.
//
// In a pipelined loop one barrier an iteration is enough: after the wait, before the copy into the slot that the
// previous iteration has read. It orders the arrived data before this iteration's loads, too.
#include "Analysis/Hazards.h"
#include "Analysis/SharedLiveness.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTAINSERTBARRIERS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CtaInsertBarriers : tile::impl::CtaInsertBarriersBase<CtaInsertBarriers> {
  void runOnKernel() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      for (Value operand : op->getOperands()) {
        if (!isa<cta::BufferType>(operand.getType()))
          continue;
        cta::AllocOp alloc = getAlloc(operand);
        if (!alloc || !alloc.getOffset())
          return op->emitOpError() << "uses a buffer that has no offset; cta-allocate-shared gives it one";
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
    for (auto [op, ofGroups] : findMissingBarriers(getOperation()))
      insertBarrier(op, ofGroups);
  }

private:
  void insertBarrier(Operation *before, bool ofGroups) {
    OpBuilder builder(before);
    IntegerAttr warps; // absent: all threads
    if (before->getParentOfType<cta::WarpRolesOp>())
      warps = builder.getI32IntegerAttr(getOperation().getNumWarps());
    cta::BarrierOp::create(builder, before->getLoc(), warps, ofGroups);
  }
};

} // namespace
