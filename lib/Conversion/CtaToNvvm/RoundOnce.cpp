// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to small floats through f32. No target can directly convert f64 and integers to 8-bit floats, and targets
// before sm_90 cannot directly convert them to bf16. LLVM itself avoids double rounding from f64, unless the value is
// known to be an integer. If a value is rounded to nearest twice, the first step may round it to the midpoint of two
// results, and the second step may then round it in the wrong direction:
//
//   1 + 2^-8 + 2^-40 of f64   -- f32 -->  1 + 2^-8   -- bf16 -->  1, but 1 + 2^-7 is nearer
//
// This file instead truncates to f32 and sets the last bit if the f32 is inexact (rounding to odd), so the f32 is never
// such a midpoint.
#include "RoundOnce.h"
#include "Float8.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::conversion {

/// Returns the intrinsic that converts `type` to f32 towards zero, such as "llvm.nvvm.d2f.rz".
static StringRef truncationOf(Type type, bool isSigned) {
  if (type.isF64())
    return "llvm.nvvm.d2f.rz";
  if (type.getIntOrFloatBitWidth() == 64)
    return isSigned ? "llvm.nvvm.ll2f.rz" : "llvm.nvvm.ull2f.rz";
  return isSigned ? "llvm.nvvm.i2f.rz" : "llvm.nvvm.ui2f.rz";
}

Value emitRoundedToOdd(OpBuilder &builder, Location loc, Value number, bool isSigned) {
  Type type = number.getType(), f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value cut = LLVM::CallIntrinsicOp::create(builder, loc, f32, builder.getStringAttr(truncationOf(type, isSigned)),
                                            ValueRange{number})
                  .getResult(0);
  Value isInexact;
  if (type.isF64()) {
    Value back = arith::ExtFOp::create(builder, loc, type, cut);
    isInexact = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, back, number);
  } else {
    // The magnitude of the truncated value is not larger, so the value is in the range of the integer type. The arith
    // operation is lowered to PTX, about which LLVM makes no assumptions.
    Value back = isSigned ? arith::FPToSIOp::create(builder, loc, type, cut).getResult()
                          : arith::FPToUIOp::create(builder, loc, type, cut).getResult();
    isInexact = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, back, number);
  }
  Value bits = arith::BitcastOp::create(builder, loc, i32, cut);
  Value last = arith::ExtUIOp::create(builder, loc, i32, isInexact);
  return arith::BitcastOp::create(builder, loc, f32, arith::OrIOp::create(builder, loc, bits, last));
}

static bool isLongInteger(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}

/// Returns true for conversions from a 32-bit or 64-bit integer to f16, including conversions through a wider float.
static bool mayOverflowHalf(Operation *op) {
  if (!op->getResult(0).getType().isF16())
    return false;
  Operation *convert = isa<arith::TruncFOp>(op) ? op->getOperand(0).getDefiningOp() : op;
  return isa_and_present<arith::SIToFPOp, arith::UIToFPOp>(convert) && isLongInteger(convert->getOperand(0).getType());
}

static bool roundsTwice(Operation *op, const target::GpuTarget &gpu) {
  constexpr unsigned converting = 90; // these targets convert any type to bf16 (PTX ISA, "cvt")
  Type from = op->getOperand(0).getType();
  return op->getResult(0).getType().isBF16() && gpu.capability < converting && (isLongInteger(from) || from.isF64());
}

bool isRoundedOtherwise(Operation *op, const target::GpuTarget &gpu) {
  return isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op) && (mayOverflowHalf(op) || roundsTwice(op, gpu));
}

namespace {

template <typename OpType> struct RoundOnceLowering : TargetPattern<OpType> {
  using TargetPattern<OpType>::TargetPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpType::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr bool isUnsigned = std::is_same_v<OpType, arith::UIToFPOp>;
    if (roundsTowardsZero(op)) // lowered in Math.cpp, as one step back from the nearest value
      return failure();
    if (roundsTwice(op, this->gpu)) {
      Value odd = emitRoundedToOdd(rewriter, op.getLoc(), adaptor.getIn(), !isUnsigned);
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), odd);
      return success();
    }
    if (!mayOverflowHalf(op)) // tensors are split into registers first
      return failure();
    // Inline PTX is used because InstCombine would convert through a wider type, assuming that an integer of a few bits
    // is exact in f16; infinite results would be lost.
    Type from = adaptor.getIn().getType();
    std::string source = (isa<FloatType>(from) ? "f"
                          : isUnsigned         ? "u"
                                               : "s") +
                         std::to_string(from.getIntOrFloatBitWidth());
    Value bits = emitPtx(rewriter, op.getLoc(),
                         {.text = "cvt.rn.f16." + source + " $0, $1;",
                          .results = {rewriter.getI16Type()},
                          .operands = {adaptor.getIn()},
                          .hasSideEffects = false})
                     .front();
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

} // namespace

void registerRoundOnceLowerings(Lowerings &lowerings) {
  lowerings.patterns
      .add<RoundOnceLowering<arith::TruncFOp>, RoundOnceLowering<arith::SIToFPOp>, RoundOnceLowering<arith::UIToFPOp>>(
          lowerings.converter, lowerings.context, lowerings.gpu,
          /*benefit=*/2);
}

} // namespace tile::conversion
