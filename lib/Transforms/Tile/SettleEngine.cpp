// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-settle-engine: revise engines whose operand assumptions did not hold.
//
//   %b = tile.load %pointers                            %b = tile.load %pointers
//   tile.dot %a, %b, %c {engine = #cta.wgmma<…>}   ==>  tile.dot %a, %b, %c {engine = #cta.wgmma<…, b = threads>}
//
// If no tensor map was created, because the pass that does so was disabled or found no recipe, threads load the
// operand, with sizes that are powers of two, and operands are not swapped. Sizes and types have their final form here,
// so all later passes can rely on the engine.
#include "Analysis/Engines/EngineChoice.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {
#define GEN_PASS_DEF_TILESETTLEENGINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct TileSettleEngine : tile::impl::TileSettleEngineBase<TileSettleEngine> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    EngineChooser chooser(gpu, getOperation().getNumWarps());
    getOperation().walk([&](DotOp dot) { dot.setEngineAttr(chooser.choose(dot)); });
    markAllAnalysesPreserved();
  }
};

} // namespace
