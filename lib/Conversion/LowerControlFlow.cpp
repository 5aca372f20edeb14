// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvvm-lower-control-flow: lower loops and branches to blocks and jumps, by upstream's patterns except for counting
// loops.
//
// A counting loop tests at its end whether another iteration follows. If the next value of the induction variable is
// known to be representable in its type, that value is compared with the bound. Otherwise the current value is compared
// with a smaller limit, which takes as many instructions:
//
//   for %i = %lower to %upper step %step   ==>   %limit = %upper - %step, or the smallest integer if that is smaller
//                                                if %lower < %upper: do { … } while %i < %limit; %i += %step
//
// Operations are lowered from last to first, and outer operations before inner ones. Each pattern splits the block
// after its operation and moves the remainder of the block. With the order of the upstream pass (convert-scf-to-cf),
// the end of a block with n branches is moved n times, which took ten seconds for 1600 masked loads. With the order
// used here, each operation is moved only once.
#include "Analysis/Loops/LoopRange.h"
#include "Conversion/Passes.h"
#include "Tile/TileDialect.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace tile {
#define GEN_PASS_DEF_NVVMLOWERCONTROLFLOW
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

void lowerFor(PatternRewriter &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Block *before = loop->getBlock(), *after = rewriter.splitBlock(before, loop->getIterator()), *body = loop.getBody();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  rewriter.setInsertionPointToEnd(before);
  LoopRange range(rewriter, loop);
  bool hasEnd = range.hasRepresentableEnd();
  Value limit = hasEnd ? range.upper : range.emitLimit(1);
  SmallVector<Value> first{range.lower}, next;
  llvm::append_range(first, loop.getInitArgs());
  cf::CondBranchOp::create(rewriter, loc, range.emitAny(), body, first, after, loop.getInitArgs());

  rewriter.setInsertionPoint(yield);
  next.push_back(arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), range.step));
  Value hasNext = range.emitLess(hasEnd ? next.front() : loop.getInductionVar(), limit);
  llvm::append_range(next, yield.getOperands());
  cf::CondBranchOp::create(rewriter, loc, hasNext, body, next, after, yield.getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineRegionBefore(loop.getRegion(), after);
  SmallVector<Location> locations(loop.getNumResults(), loc);
  SmallVector<Value> results(after->addArguments(loop.getResultTypes(), locations));
  rewriter.replaceOp(loop, results);
}

struct NvvmLowerControlFlow : tile::impl::NvvmLowerControlFlowBase<NvvmLowerControlFlow> {
  void runOnOperation() override {
    RewritePatternSet set(&getContext());
    populateSCFToControlFlowConversionPatterns(set);
    FrozenRewritePatternSet patterns(std::move(set));
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();

    SmallVector<Operation *> operations;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) && op->getNumRegions() != 0)
        operations.push_back(op);
    });
    PatternRewriter rewriter(&getContext());
    for (Operation *op : llvm::reverse(operations)) {
      rewriter.setInsertionPoint(op);
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (!function || isa<KernelOp>(function)) {
        op->emitOpError() << "is not in a lowered (per-thread) function; run convert-cta-to-nvvm first";
        return signalPassFailure();
      }
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        lowerFor(rewriter, loop);
      } else if (failed(applicator.matchAndRewrite(op, rewriter))) {
        op->emitOpError() << "cannot be lowered to branches";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
