// tile-choose-engine: write into each dot what multiplies it.
//
//   %d = tile.dot %a, %b, %c : 128x64xf16, 64x256xf16   ==>   … {engine = #cta.wgmma<m64n256k16, f16, f16, f32, …>}
//
// Warp groups multiply what TMA brings. So this comes before the passes that make descriptors: a dot is theirs if
// descriptors can bring its operands, with the instruction and the grid for the order in which these lie in memory.
// Whether they do is seen by tile-settle-engine.
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
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    auto &accesses = getAnalysis<RaisableAccesses>();
    getOperation().walk([&](DotOp dot) {
      EngineChoice choice = chooseEngine(dot, accesses, *gpu, getOperation().getNumWarps());
      dot.setEngineAttr(choice.engine);
      if (gpu->has(target::Feature::Wgmma) && !choice.whyNoWgmma.empty())
        dot.emitRemark() << "not multiplied by wgmma: " << choice.whyNoWgmma;
    });
    // tile-raise-descriptors asks for the same accesses.
    markAllAnalysesPreserved();
  }
};

} // namespace
