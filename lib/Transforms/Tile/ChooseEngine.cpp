// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-choose-engine: write into each dot what multiplies it.
//
//   %d = tile.dot %a, %b, %c : 128x64xf16, 64x256xf16   ==>   … {engine = #cta.wgmma<m64n256k16, f16, f16, f32, …>}
//
// Which operands become blocks of descriptors, and which dots are swapped, depends on what multiplies. So this comes
// first, and takes for granted that descriptors are made where they can be. Where they are not, tile-settle-engine says
// what that changes.
#include "Analysis/EngineChoice.h"
#include "Analysis/FindTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {
#define GEN_PASS_DEF_TILECHOOSEENGINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct TileChooseEngine : tile::impl::TileChooseEngineBase<TileChooseEngine> {
  using TileChooseEngineBase::TileChooseEngineBase;

  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget *gpu = findTargetOrEmitError(target, kernel);
    if (!gpu)
      return signalPassFailure();
    EngineChooser chooser(*gpu, kernel.getNumWarps(), &getAnalysis<RaisableAccesses>());
    kernel.walk([&](DotOp dot) {
      dot.setEngineAttr(chooser.choose(dot));
      SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
      bool areBlocks = isa_and_present<DescLoadOp>(a.source) && isa_and_present<DescLoadOp>(b.source);
      if (areBlocks && gpu->has(target::Feature::Wgmma) && !getWgmmaOfBlocks(dot))
        dot.emitRemark() << "no tensor maps for its operands: "
                         << whyNoWgmmaOfBlocks(dot, a.transposed, b.transposed, *gpu, kernel.getNumWarps());
    });
    // tile-raise-descriptors asks for the same accesses.
    markAllAnalysesPreserved();
  }
};

} // namespace
