// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers TMA copies and mbarriers. A descriptor becomes the address of its tensor map, which is a kernel parameter.
//
// lib/Layout/TmaBoxes.h plans the boxes, both for the copies and for the tensor map. PTX orders coordinates from
// innermost to outermost.
#include "Tma.h"
#include "EmitLayout.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tile::layout::TmaBoxes;

namespace tile::conversion {

Value emitBarrierSlot(OpBuilder &builder, Location loc, Value ring, Value slot) {
  Value offset = arith::MulIOp::create(builder, loc, slot, emitI32(builder, loc, cta::MbarrierType::bytesPerSlot));
  return LLVM::GEPOp::create(builder, loc, ring.getType(), builder.getI8Type(), ring, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::nuw);
}

SmallVector<Value> emitCoordinates(OpBuilder &builder, Location loc, ValueRange offsets, const TmaBoxes::Box &box) {
  SmallVector<Value> coordinates;
  SmallVector<int64_t> insides(offsets.size() - box.coordinates.size(), 0);
  llvm::append_range(insides, box.coordinates);
  for (auto [offset, inside] : llvm::zip_equal(offsets, insides)) {
    Value coordinate = offset;
    if (inside != 0)
      coordinate = arith::AddIOp::create(builder, loc, offset, emitI32(builder, loc, inside));
    coordinates.insert(coordinates.begin(), coordinate);
  }
  return coordinates;
}

/// Emits a loop of PTX, because nvvm.mbarrier.try_wait.parity has no translation to LLVM IR. In each try, the hardware
/// suspends the thread for a while.
void emitBarrierWait(OpBuilder &builder, Location loc, Value barrier, Value parity) {
  PtxStatement statement;
  statement.text = "{\n.reg .pred complete;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;\n"
                   "@!complete bra again;\n}";
  statement.operands = {barrier, parity};
  emitPtx(builder, loc, statement);
}

void emitExpect(OpBuilder &builder, Location loc, Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(builder, loc, /*res=*/Type(), barrier, emitI32(builder, loc, bytes),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
}

namespace {

TmaBoxes boxesOf(cta::BufferType buffer) {
  return *layout::planTmaBoxes(buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()),
                               buffer.getShape().vec());
}

void emitLoads(OpBuilder &builder, Location loc, cta::BufferType type, Value buffer, Value desc, Value tail,
               ValueRange offsets, Value barrier) {
  for (const TmaBoxes::Box &box : boxesOf(type).boxes) {
    Value target = emitByteOffset(builder, loc, buffer, box.byteOffset);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, target, box.isTail ? tail : desc, emitCoordinates(builder, loc, offsets, box), barrier,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(), /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
        /*isCTAOnly=*/true, /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}

struct MbarrierAllocLowering : OpConversionPattern<cta::MbarrierAllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MbarrierAllocOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type pointer = getTypeConverter()->convertType(op.getType());
    Value start = LLVM::AddressOfOp::create(rewriter, op.getLoc(), pointer, sharedSymbol);
    rewriter.replaceOp(op, emitByteOffset(rewriter, op.getLoc(), start, int32_t(*op.getOffset())));
    return success();
  }
};

struct MbarrierWaitLowering : OpConversionPattern<cta::MbarrierWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MbarrierWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitBarrierWait(rewriter, op.getLoc(),
                    emitBarrierSlot(rewriter, op.getLoc(), adaptor.getBarrier(), adaptor.getSlot()),
                    adaptor.getParity());
    rewriter.eraseOp(op);
    return success();
  }
};

struct MbarrierArriveLowering : OpConversionPattern<cta::MbarrierArriveOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MbarrierArriveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<cta::Role> role = cta::findRole(op);
    if (role && role->getAttr().getOneThread())
      return arriveFromOneThread(op, adaptor, rewriter);
    // One lane arrives on behalf of its warp, so the reads of the other lanes must be complete.
    NVVM::SyncWarpOp::create(rewriter, loc, emitI32(rewriter, loc, -1));
    Value lane = arith::AndIOp::create(rewriter, loc, emitThreadId(rewriter, loc), emitI32(rewriter, loc, 31));
    // The first lanes arrive: one for each CTA.
    Value arrives =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, lane, emitI32(rewriter, loc, op.getCtas()));
    if (adaptor.getCondition())
      arrives = arith::AndIOp::create(rewriter, loc, arrives, adaptor.getCondition());
    Value barrier = emitBarrierSlot(rewriter, loc, adaptor.getBarrier(), adaptor.getSlot());
    if (op.getCtas() == 1 && op.getCondition()) {
      // Predication is used instead of a branch: LLVM would merge the branches of a lane, and ptxas waits for all
      // wgmmas before divergent control flow.
      Value address = LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), barrier);
      emitPtx(rewriter, loc,
              {.text = "{\n.reg .b64 state;\n@$0 mbarrier.arrive.shared.b64 state, [$1];\n}",
               .operands = {arrives, address}});
      rewriter.eraseOp(op);
      return success();
    }
    auto branch = scf::IfOp::create(rewriter, loc, arrives, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    if (op.getCtas() > 1)
      emitRemoteArrive(rewriter, loc, barrier, lane);
    else
      NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(), barrier, /*count=*/Value());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Emits an arrival of the role's only thread. This thread may be any lane, and there are no other lanes to wait for.
  static LogicalResult arriveFromOneThread(cta::MbarrierArriveOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    Value barrier = emitBarrierSlot(rewriter, loc, adaptor.getBarrier(), adaptor.getSlot());
    if (adaptor.getCondition()) {
      auto branch = scf::IfOp::create(rewriter, loc, adaptor.getCondition(), /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(), barrier, /*count=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct MbarrierExpectLowering : OpConversionPattern<cta::MbarrierExpectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MbarrierExpectOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitExpect(rewriter, op.getLoc(), emitBarrierSlot(rewriter, op.getLoc(), adaptor.getBarrier(), adaptor.getSlot()),
               op.getBytes());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaLoadLowering : OpConversionPattern<cta::TmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitLoads(rewriter, op.getLoc(), op.getBuffer().getType(), adaptor.getBuffer(), adaptor.getDesc(),
              adaptor.getTail(), adaptor.getOffsets(),
              emitBarrierSlot(rewriter, op.getLoc(), adaptor.getBarrier(), adaptor.getSlot()));
    rewriter.eraseOp(op);
    return success();
  }
};

/// One thread initializes the barrier, copies, waits and invalidates the barrier. The data is visible to the other
/// threads after they have synchronized with this thread.
struct TmaLoadSyncLowering : OpConversionPattern<cta::TmaLoadSyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaLoadSyncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = adaptor.getBarrier();
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstOfRole(rewriter, op), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      // Ordinary loads and stores may have accessed the buffer.
      NVVM::FenceProxyOp::create(rewriter, loc, NVVM::ProxyKind::async_shared,
                                 NVVM::SharedSpaceAttr::get(getContext(), NVVM::SharedSpace::shared_cta));
      NVVM::MBarrierInitOp::create(rewriter, loc, barrier, emitI32(rewriter, loc, 1), /*predicate=*/Value());
      NVVM::FenceMbarrierInitOp::create(rewriter, loc);
      emitExpect(rewriter, loc, barrier, op.getBuffer().getType().getBlockBytes());
      emitLoads(rewriter, loc, op.getBuffer().getType(), adaptor.getBuffer(), adaptor.getDesc(), adaptor.getTail(),
                adaptor.getOffsets(), barrier);
      emitBarrierWait(rewriter, loc, barrier, emitI32(rewriter, loc, 0));
      NVVM::MBarrierInvalOp::create(rewriter, loc, barrier);
    }
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaPrefetchLowering : OpConversionPattern<cta::TmaPrefetchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaPrefetchOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstThread(rewriter, loc), /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    NVVM::PrefetchOp::create(rewriter, loc, /*cacheLevel=*/NVVM::PrefetchCacheLevelAttr(),
                             /*evictPriority=*/NVVM::CacheEvictionPriorityAttr(), adaptor.getDesc(),
                             /*predicate=*/Value(), /*tensormap=*/rewriter.getUnitAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Returns the reduction of a TMA copy; the element type is part of the tensor map.
NVVM::TMAReduxKind reductionOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::and_:
    return NVVM::TMAReduxKind::AND;
  case AtomicKind::or_:
    return NVVM::TMAReduxKind::OR;
  case AtomicKind::xor_:
    return NVVM::TMAReduxKind::XOR;
  case AtomicKind::fmax:
    return NVVM::TMAReduxKind::MAX;
  case AtomicKind::fmin:
    return NVVM::TMAReduxKind::MIN;
  default:
    return NVVM::TMAReduxKind::ADD;
  }
}

struct TmaStoreLowering : OpConversionPattern<cta::TmaStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t groups = op.getGroups();
    cta::BufferType part = op.getBuffer().getType();
    Value isFirst, buffer = adaptor.getBuffer();
    SmallVector<Value> offsets(adaptor.getOffsets());
    if (groups > 1) {
      unsigned axis = part.getPartAxis(groups);
      part = part.getPart(groups);
      Value group = emitGroupInRole(rewriter, op);
      Value bytes = arith::MulIOp::create(rewriter, loc, group, emitI32(rewriter, loc, part.getBytes()));
      buffer = LLVM::GEPOp::create(rewriter, loc, buffer.getType(), rewriter.getI8Type(), buffer,
                                   ArrayRef<LLVM::GEPArg>{bytes});
      Value step = arith::MulIOp::create(rewriter, loc, group, emitI32(rewriter, loc, part.getShape()[axis]));
      Value &first = offsets[offsets.size() - part.getShape().size() + axis];
      first = arith::AddIOp::create(rewriter, loc, first, step);
      Value thread = arith::AndIOp::create(rewriter, loc, emitThreadId(rewriter, loc), emitI32(rewriter, loc, 127));
      isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread, emitI32(rewriter, loc, 0));
    } else {
      isFirst = emitIsFirstOfRole(rewriter, op);
    }
    if (isFirst) {
      auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    for (const TmaBoxes::Box &box : boxesOf(part).boxes) {
      Value source = emitByteOffset(rewriter, loc, buffer, box.byteOffset);
      SmallVector<Value> coordinates = emitCoordinates(rewriter, loc, offsets, box);
      if (std::optional<AtomicKind> kind = op.getReduce())
        NVVM::CpAsyncBulkTensorReduceOp::create(rewriter, loc, adaptor.getDesc(), source, reductionOf(*kind),
                                                NVVM::TMAStoreMode::TILE, coordinates, /*l2CacheHint=*/Value());
      else
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(rewriter, loc, adaptor.getDesc(), source, coordinates,
                                                           /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
                                                           /*predicate=*/Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Emits the wait in all threads: a thread that has issued no copies has nothing to wait for, so no branch is needed.
struct TmaStoreWaitLowering : OpConversionPattern<cta::TmaStoreWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaStoreWaitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    UnitAttr onlyRead = op.getWritten() ? UnitAttr() : rewriter.getUnitAttr();
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(op, op.getPending(), onlyRead);
    return success();
  }
};

/// Returns the index of a team, which is that of its warp group.
struct TeamLowering : OpConversionPattern<cta::TeamOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TeamOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitGroupInRole(rewriter, op));
    return success();
  }
};

/// Returns true if a later fence makes this one redundant, because only stores to shared memory lie between them.
static bool isRepeated(cta::ProxyFenceOp fence) {
  for (Operation *next = fence->getNextNode(); next; next = next->getNextNode()) {
    if (isa<cta::ProxyFenceOp>(next))
      return true;
    if (!isa<cta::LocalStoreOp>(next) && !isMemoryEffectFree(next) && !isa<cta::AllocOp>(next))
      return false;
  }
  return false;
}

struct ProxyFenceLowering : OpConversionPattern<cta::ProxyFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ProxyFenceOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (isRepeated(op)) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op, NVVM::ProxyKind::async_shared, NVVM::SharedSpaceAttr::get(getContext(), NVVM::SharedSpace::shared_cta));
    return success();
  }
};

} // namespace

static LogicalResult checkTmaCopy(Operation *op, cta::BufferType buffer, Value tail, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Tma))
    return op->emitOpError() << "needs TMA, which " << gpu.name << " lacks; sm_90 and later have it";
  std::optional<TmaBoxes> boxes = layout::planTmaBoxes(
      buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()), buffer.getShape().vec());
  if (!boxes)
    return op->emitOpError() << "buffer has a layout that TMA cannot copy: " << buffer;
  int64_t tailColumns = tail ? cast<DescType>(tail.getType()).getShape().back() : 0;
  if (boxes->tailColumns != tailColumns)
    return op->emitOpError() << "has a descriptor for a last panel of " << tailColumns
                             << " columns but the buffer's has " << boxes->tailColumns;
  return success();
}

static LogicalResult checkMbarrierAlloc(cta::MbarrierAllocOp op, const target::GpuTarget &) {
  if (!op.getOffset())
    return op.emitOpError() << "has no offset; run cta-allocate-shared first";
  return success();
}

void registerTmaLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<MbarrierAllocLowering, MbarrierWaitLowering, MbarrierArriveLowering, MbarrierExpectLowering,
                         TmaLoadLowering, TmaLoadSyncLowering, TmaPrefetchLowering, TmaStoreLowering,
                         TmaStoreWaitLowering, TeamLowering, ProxyFenceLowering>(lowerings.converter,
                                                                                 lowerings.context);
  lowerings.check<cta::MbarrierAllocOp>(checkMbarrierAlloc);
  lowerings.check<cta::TmaLoadOp, cta::TmaLoadSyncOp>([](auto op, const target::GpuTarget &gpu) {
    return checkTmaCopy(op, op.getBuffer().getType(), op.getTail(), gpu);
  });
  lowerings.check<cta::TmaStoreOp, cta::TmaMulticastOp>([](auto op, const target::GpuTarget &gpu) {
    return checkTmaCopy(op, op.getBuffer().getType(), /*tail=*/Value(), gpu);
  });
}

} // namespace tile::conversion
