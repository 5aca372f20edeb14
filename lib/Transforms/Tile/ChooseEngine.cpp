// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-choose-engine: write into each dot what multiplies it.
//
//   %d = tile.dot %a, %b, %c : 128x64xf16, 64x256xf16   ==>   … {engine = #cta.wgmma<m64n256k16, f16, f16, f32, …>}
//
// What tensor cores do not have multiplies f16, which has all numbers of the 8-bit formats, so the result is the same;
// a dot by fused multiply-adds, which is the alternative, has thousands of them for each thread:
//
//   %d = tile.dot %a, %b, %c : f8E4M3FN      ==>      %x = arith.extf %a : f16;  %y = arith.extf %b : f16
//                                                     %d = tile.dot %x, %y, %c  {engine = #cta.mma_sync<…>}
//
// Which operands become blocks of descriptors, and which dots are swapped, depends on what multiplies. So this comes
// first, and takes for granted that descriptors are made where they can be. Where they are not, tile-settle-engine says
// what that changes.
#include "Analysis/DotPlan.h"
#include "Analysis/EngineChoice.h"
#include "Cta/CtaDialect.h"
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

/// Operands of 8 bits whose type the target's tensor cores do not have become f16.
void widenOperands(DotOp dot, const target::GpuTarget &target) {
  if (!hasBytes(dot.getA()) || !hasBytes(dot.getB()) || isMultiplied(dot, target))
    return;
  OpBuilder builder(dot);
  dot.setMaxNumImpreciseAcc(0);
  for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
    operand->set(arith::ExtFOp::create(
        builder, dot.getLoc(), withElementType(operand->get().getType(), builder.getF16Type()), operand->get()));
}

struct TileChooseEngine : tile::impl::TileChooseEngineBase<TileChooseEngine> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    kernel.walk([&](DotOp dot) { widenOperands(dot, gpu); });
    EngineChooser chooser(gpu, kernel.getNumWarps(), &getAnalysis<RaisableAccesses>());
    kernel.walk([&](DotOp dot) {
      dot.setEngineAttr(chooser.choose(dot));
      SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
      bool areBlocks = isa_and_present<DescLoadOp>(a.source) && isa_and_present<DescLoadOp>(b.source);
      if (areBlocks && gpu.has(target::Feature::Wgmma) && !getWgmmaOfBlocks(dot))
        dot.emitRemark() << "no tensor maps for its operands: "
                         << whyNoWgmmaOfBlocks(dot, a.transposed, b.transposed, gpu, kernel.getNumWarps());
    });
    // tile-raise-descriptors asks for the same accesses.
    markAllAnalysesPreserved();
  }
};

} // namespace
