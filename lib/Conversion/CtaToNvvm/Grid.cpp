// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers partial accumulators and flags in global memory, through which the CTAs of a grid share work, and dependencies
// between grids.
#include "EmitLayout.h"
#include "PartialOffsets.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::conversion {

namespace {

struct PartialStoreLowering : OpConversionPattern<cta::PartialStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PartialStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PartialOffsets offsets(cast<RankedTensorType>(op.getValue().getType()), op.getColumns());
    offsets.emitStores(rewriter, loc, adaptor.getValue(), offsets.emitBase(rewriter, loc, adaptor.getPtr().front()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct PartialAddLowering : OpConversionPattern<cta::PartialAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PartialAddOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PartialOffsets offsets(cast<RankedTensorType>(op.getValue().getType()), op.getColumns());
    Value base = offsets.emitBase(rewriter, loc, adaptor.getPtr().front());
    Registers sums = offsets.emitAdditions(rewriter, loc, adaptor.getValue(), base);
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct FlagSetLowering : OpConversionPattern<cta::FlagSetOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::FlagSetOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PtxStatement statement;
    statement.text = "@$1 st.release.gpu.global.b32 [$0], 1;";
    statement.operands = {adaptor.getPtr(), emitIsFirstOfRole(rewriter, op)};
    emitPtx(rewriter, loc, statement);
    rewriter.eraseOp(op);
    return success();
  }
};

struct FlagWaitLowering : OpConversionPattern<cta::FlagWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::FlagWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstOfRole(rewriter, op), /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    PtxStatement statement;
    statement.text = "{\n.reg .pred absent;\n.reg .b32 flag;\nagain:\nld.acquire.gpu.global.b32 flag, [$0];\n"
                     "setp.eq.b32 absent, flag, 0;\n@absent bra again;\nst.relaxed.gpu.global.b32 [$0], 0;\n}";
    statement.operands = {adaptor.getPtr()};
    emitPtx(rewriter, loc, statement);
    rewriter.eraseOp(op);
    return success();
  }
};

template <typename OpType, NVVM::GridDepActionKind kind> struct GridActionLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpType::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::GriddepcontrolOp>(op, kind);
    return success();
  }
};

} // namespace

void registerGridLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<PartialStoreLowering, PartialAddLowering, FlagSetLowering, FlagWaitLowering,
                         GridActionLowering<cta::AwaitGridsOp, NVVM::GridDepActionKind::wait>,
                         GridActionLowering<cta::LaunchDependentsOp, NVVM::GridDepActionKind::launch_dependents>>(
      lowerings.converter, lowerings.context);
}

} // namespace tile::conversion
