// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers buffers in shared memory, and cta.barrier. A buffer becomes the address of its first byte; selecting a slot
// adds a multiple of the slot size to this address.
#include "EmitLayout.h"
#include "Panels.h"
#include "Patterns.h"
#include "SharedAccess.h"

#include "Layout/ShapeTransforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::conversion {

namespace {

struct AllocLowering : OpConversionPattern<cta::AllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::AllocOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Type pointer = getTypeConverter()->convertType(op.getType());
    Value start = LLVM::AddressOfOp::create(rewriter, op.getLoc(), pointer, sharedSymbol);
    rewriter.replaceOp(op, emitByteOffset(rewriter, op.getLoc(), start, int32_t(*op.getOffset())));
    return success();
  }
};

struct SlotLowering : OpConversionPattern<cta::SlotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::SlotOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    int64_t bytes = op.getBuffer().getType().getBytesPerSlot();
    Value offset =
        arith::MulIOp::create(rewriter, op.getLoc(), adaptor.getIndex(), emitI32(rewriter, op.getLoc(), bytes));
    rewriter.replaceOpWithNewOp<LLVM::GEPOp>(op, adaptor.getBuffer().getType(), rewriter.getI8Type(),
                                             adaptor.getBuffer(), ArrayRef<LLVM::GEPArg>{offset},
                                             LLVM::GEPNoWrapFlags::nuw);
    return success();
  }
};

/// A transposed buffer has the same address; only the layout in its type differs.
struct TransBufferLowering : OpConversionPattern<cta::TransBufferOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TransBufferOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getBuffer());
    return success();
  }
};

struct LocalLoadLowering : TargetPattern<cta::LocalLoadOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(cta::LocalLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    cta::BufferType buffer = op.getBuffer().getType();
    const layout::LinearLayout &stored = buffer.getLayout().getLayout();
    layout::LinearLayout part = layout::embed(cta::getLayout(op.getType()), buffer.getShape().vec());
    SharedTile tile{adaptor.getBuffer().front(), buffer.getElementType(), stored, part};
    // `start` is a multiple of the size of the loaded part, so XORing its offset is the same as adding it.
    uint64_t shift = op.getStart() ? stored.flatten(op.getStart()->vec()) : 0;
    rewriter.replaceOpWithMultiple(op, {emitSharedLoad(rewriter, op.getLoc(), tile, shift, gpu)});
    return success();
  }
};

struct LocalStoreLowering : TargetPattern<cta::LocalStoreOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(cta::LocalStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    cta::BufferType buffer = op.getBuffer().getType();
    SharedTile tile{adaptor.getBuffer().front(), buffer.getElementType(), buffer.getLayout().getLayout(),
                    cta::getLayout(op.getValue().getType())};
    OpBuilder::InsertionGuard guard(rewriter);
    Value isFirst = op.getFirst() ? emitIsFirstCopy(rewriter, op.getLoc(), tile.distributed) : Value();
    if (isFirst)
      rewriter.setInsertionPointToStart(scf::IfOp::create(rewriter, op.getLoc(), isFirst).thenBlock());
    emitSharedStore(rewriter, op.getLoc(), tile, adaptor.getValue(), gpu);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Synchronizes the threads of a role, warp group or CTA. If this is a single warp, its lanes only have to reconverge.
struct BarrierLowering : OpConversionPattern<cta::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::BarrierOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    std::optional<cta::Role> role = cta::findRole(op);
    if (op.getGroups() || (role && role->getAttr().getTeams() > 1)) { // a team is a warp group
      Value group = arith::ShRUIOp::create(rewriter, op.getLoc(), emitUniformWarpId(rewriter, op.getLoc()),
                                           emitI32(rewriter, op.getLoc(), 2));
      Value id = arith::AddIOp::create(rewriter, op.getLoc(), group,
                                       emitI32(rewriter, op.getLoc(), NamedBarriers::firstOfGroups));
      rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op, /*res=*/Type(), id, emitI32(rewriter, op.getLoc(), 128),
                                                   NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
      return success();
    }
    if (role && role->getAttr().getWarps() > 1) {
      Value id = emitI32(rewriter, op.getLoc(), NamedBarriers::ofRole(*role));
      Value threads = emitI32(rewriter, op.getLoc(), role->getAttr().getWarps() * target::threadsPerWarp);
      rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op, /*res=*/Type(), id, threads, NVVM::BarrierReductionAttr(),
                                                   /*reductionPredicate=*/Value());
      return success();
    }
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
    if (role || (threads && threads.asArrayRef().front() == target::threadsPerWarp))
      rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, emitI32(rewriter, op.getLoc(), -1));
    else
      rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op);
    return success();
  }
};

} // namespace

static LogicalResult checkAlloc(cta::AllocOp op, const target::GpuTarget &) {
  if (!op.getOffset())
    return op.emitOpError() << "has no offset; run cta-allocate-shared first";
  if (int32_t(*op.getOffset()) < 0 || *op.getOffset() % bufferAlignment != 0)
    return op.emitOpError() << "offset is " << int32_t(*op.getOffset()) << " but must be a multiple of "
                            << bufferAlignment << " bytes";
  return success();
}

LogicalResult checkWholeTile(Operation *op, cta::BufferType buffer) {
  if (!buffer.isPadded())
    return success();
  return op->emitOpError() << "accesses all elements of the layout of " << buffer
                           << ", which has more than the buffer holds; "
                           << "only wgmma and TMA support sizes that are not powers of two";
}

void registerBufferLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<AllocLowering, SlotLowering, TransBufferLowering, BarrierLowering>(lowerings.converter,
                                                                                            lowerings.context);
  lowerings.patterns.add<LocalLoadLowering, LocalStoreLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
  addPanelLowerings(lowerings);
  lowerings.check<cta::AllocOp>(checkAlloc);
  lowerings.check<cta::LocalLoadOp, cta::LocalStoreOp>(
      [](auto op, const target::GpuTarget &) { return checkWholeTile(op, op.getBuffer().getType()); });
}

} // namespace tile::conversion
