// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvvm-lower-control-flow: loops and branches become blocks and jumps, by upstream's patterns.
//
// From the last operation to the first, and outside before inside. Each pattern splits the block after its operation
// and moves what follows; in the order of the upstream pass (convert-scf-to-cf) a block with n branches moves its end n
// times, which for 1600 masked loads took ten seconds. In this order each operation moves once.
#include "Conversion/Passes.h"
#include "Tile/TileDialect.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace tile {
#define GEN_PASS_DEF_NVVMLOWERCONTROLFLOW
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

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
        op->emitOpError() << "is in no function of one thread; convert-cta-to-nvvm makes one of a kernel";
        return signalPassFailure();
      }
      if (failed(applicator.matchAndRewrite(op, rewriter))) {
        op->emitOpError() << "cannot be lowered to jumps";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
