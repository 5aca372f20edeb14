// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-widen-dot: multiply numbers of 8 bits as f16 where the tensor cores do not have their type.
//
//   %d = tile.dot %a, %b, %c : f8E4M3FN      ==>      %x = arith.extf %a : f16;  %y = arith.extf %b : f16
//                                                     %d = tile.dot %x, %y, %c
//
// f16 has all numbers of the 8-bit formats, so the result is the same; a dot by fused multiply-adds, which is
// the alternative, has thousands of them for each thread.
#include "Analysis/DotPlan.h"
#include "Analysis/FindTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILEWIDENDOT
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

struct TileWidenDot : tile::impl::TileWidenDotBase<TileWidenDot> {
  using TileWidenDotBase::TileWidenDotBase;

  void runOnKernel() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    getOperation().walk([&](DotOp dot) {
      if (!hasBytes(dot.getA()) || !hasBytes(dot.getB()) || isMultiplied(dot, *gpu))
        return;
      OpBuilder builder(dot);
      dot.setMaxNumImpreciseAcc(0);
      dot.removeEngineAttr(); // for other types
      for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
        operand->set(arith::ExtFOp::create(
            builder, dot.getLoc(), withElementType(operand->get().getType(), builder.getF16Type()), operand->get()));
    });
  }
};

} // namespace
