// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts floats to integers. In LLVM, the result for a value out of range is poison, and LLVM may replace it by
// anything, even if it is computed at run time. PTX's instruction and the language define the result: the nearest
// integer of the type, and for NaN either 0 or only the highest bit set.
//
//   arith.fptosi %x : f32 to i32   ==>   cvt.rzi.s32.f32
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::conversion {

namespace {

template <typename OpType> struct FloatToIntegerLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpType::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isFloatToRegister(op)) // tensors are split into registers first
      return failure();
    Location loc = op.getLoc();
    Value number = adaptor.getIn();
    if (number.getType().isBF16())
      number = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(), number);
    std::string source = "f" + std::to_string(number.getType().getIntOrFloatBitWidth());
    if (number.getType().isF16())
      number = arith::BitcastOp::create(rewriter, loc, rewriter.getI16Type(), number);
    StringRef sign = std::is_same_v<OpType, arith::FPToUIOp> ? "u" : "s";
    std::string width = std::to_string(op.getType().getIntOrFloatBitWidth());
    rewriter.replaceOp(op, emitPtx(rewriter, loc,
                                   {.text = ("cvt.rzi." + sign + width + "." + source + " $0, $1;").str(),
                                    .results = {op.getType()},
                                    .operands = {number},
                                    .hasSideEffects = false}));
    return success();
  }
};

} // namespace

bool isFloatToRegister(Operation *op) {
  if (!isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  return isa<FloatType>(from) && from.getIntOrFloatBitWidth() >= 16 && to.isInteger() &&
         llvm::is_contained({16u, 32u, 64u}, to.getIntOrFloatBitWidth());
}

void registerFloatToIntegerLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<FloatToIntegerLowering<arith::FPToSIOp>, FloatToIntegerLowering<arith::FPToUIOp>>(
      lowerings.converter, lowerings.context, /*benefit=*/2);
}

} // namespace tile::conversion
