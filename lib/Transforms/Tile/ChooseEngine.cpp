// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-choose-engine: choose the engine that computes each dot.
//
//   %d = tile.dot %a, %b, %c : 128x64xf16, 64x256xf16   ==>   … {engine = #cta.wgmma<m64n256k16, f16, f16, f32, …>}
//
// 8-bit formats without an MMA on the target are widened to f16, which represents all of their values, so the result is
// the same. The alternative, a dot computed with fused multiply-adds, would need thousands of them per thread:
//
//   %d = tile.dot %a, %b, %c : f8E4M3FN      ==>      %x = arith.extf %a : f16;  %y = arith.extf %b : f16
//                                                     %d = tile.dot %x, %y, %c  {engine = #cta.mma_sync<…>}
//
// Which operands are loaded through descriptors, and which dots are swapped, depends on the engine. So this pass runs
// first and assumes that descriptors are created wherever possible. tile-settle-engine corrects the engine where they
// are not.
#include "Analysis/Dots/DotPlan.h"
#include "Analysis/Engines/EngineChoice.h"
#include "Cta/CtaDialect.h"
#include "Target/Engines/BufferEngines.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILECHOOSEENGINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

bool hasBytes(Value operand) {
  Type element = getElementTypeOrSelf(operand.getType());
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

bool isMultiplied(DotOp dot, const target::GpuTarget &target) {
  std::optional<target::MmaType> a = getMmaType(dot.getA().getType().getElementType()),
                                 b = getMmaType(dot.getB().getType().getElementType()),
                                 acc = getAccumulatorType(dot.getAcc().getType().getElementType());
  return a && b && acc && target::widestMma(target, *a, *b, *acc);
}

/// Widens 8-bit operands to f16 if the target's tensor cores do not support their type.
void widenOperands(DotOp dot, const target::GpuTarget &target) {
  if (!hasBytes(dot.getA()) || !hasBytes(dot.getB()) || isMultiplied(dot, target))
    return;
  OpBuilder builder(dot);
  dot.setMaxNumImpreciseAcc(0);
  for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
    operand->set(arith::ExtFOp::create(
        builder, dot.getLoc(), withElementType(operand->get().getType(), builder.getF16Type()), operand->get()));
}

/// Accumulates in f32 where tcgen05 would have to accumulate in f16, and rounds the result, which is more accurate.
void widenAccumulator(DotOp dot, const target::GpuTarget &target) {
  RankedTensorType type = dot.getType();
  if (!target.has(target::Feature::Tcgen05) || !type.getElementType().isF16() || dot.isScaled() ||
      type.getDimSize(0) < target::wgmmaRows)
    return;
  OpBuilder builder(dot);
  auto wide = withElementType(type, builder.getF32Type());
  Value acc = arith::ExtFOp::create(builder, dot.getLoc(), wide, dot.getAcc());
  Value widened = DotOp::create(builder, dot.getLoc(), dot.getA(), dot.getB(), acc, dot.getPrecision(),
                                dot.getMaxNumImpreciseAcc(), Engine());
  dot.replaceAllUsesWith(arith::TruncFOp::create(builder, dot.getLoc(), type, widened).getResult());
  dot.erase();
}

struct TileChooseEngine : tile::impl::TileChooseEngineBase<TileChooseEngine> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    kernel.walk([&](DotOp dot) {
      widenOperands(dot, gpu);
      widenAccumulator(dot, gpu);
    });
    EngineChooser chooser(gpu, kernel.getNumWarps(), &getAnalysis<RaisableAccesses>());
    kernel.walk([&](DotOp dot) {
      dot.setEngineAttr(chooser.choose(dot));
      SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
      bool areBlocks = isa_and_present<DescLoadOp>(a.source) && isa_and_present<DescLoadOp>(b.source);
      if (areBlocks && target::hasBufferEngine(gpu) && !getEngineOfBlocks(dot))
        dot.emitRemark() << "dot does not load its operands by TMA: "
                         << whyNoWgmmaOfBlocks(dot, a.transposed, b.transposed, gpu, kernel.getNumWarps());
    });
    // tile-raise-descriptors uses the same analysis of accesses.
    markAllAnalysesPreserved();
  }
};

} // namespace
