// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: ranks, barriers, multicast copies, and accumulators through distributed shared memory.
//
// PTX ISA, "mapa": all CTAs of a cluster lay out their shared memory in the same way, so the address of an object in a
// peer's shared memory follows from its address in this CTA and from the peer's rank.
#include "EmitLayout.h"
#include "PartialOffsets.h"
#include "Patterns.h"
#include "Ptx.h"
#include "Tma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tile::layout::TmaBoxes;

namespace tile::conversion {

void emitRemoteArrive(OpBuilder &builder, Location loc, Value barrier, Value rank) {
  PtxStatement statement;
  statement.text = "{\n.reg .b64 remote;\nmapa.shared::cluster.u64 remote, $0, $1;\n"
                   "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}";
  statement.operands = {barrier, rank};
  emitPtx(builder, loc, statement);
}

void emitClusterBarrier(OpBuilder &builder, Location loc) {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/UnitAttr());
}

namespace {

Value emitRank(OpBuilder &builder, Location loc) {
  return NVVM::ClusterId::create(builder, loc, builder.getI32Type());
}

Type clusterPointer(OpBuilder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
}

template <typename OpType, typename Register> struct ClusterIndexLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpType::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<Register>(op, rewriter.getI32Type());
    return success();
  }
};

struct ClusterBarrierLowering : OpConversionPattern<cta::ClusterBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ClusterBarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitClusterBarrier(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaMulticastLowering : OpConversionPattern<cta::TmaMulticastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TmaMulticastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    cta::BufferType type = op.getBuffer().getType();
    layout::TmaParts parts =
        *layout::splitTmaBoxes(type.getLayout().getLayout(), getBytesInMemory(type.getElementType()), op.getParts());
    Value rank = emitRank(rewriter, loc);
    Value bytes = arith::MulIOp::create(rewriter, loc, rank, emitI32(rewriter, loc, parts.bytes));
    Value target = LLVM::GEPOp::create(rewriter, loc, adaptor.getBuffer().getType(), rewriter.getI8Type(),
                                       adaptor.getBuffer(), ArrayRef<LLVM::GEPArg>{bytes});
    SmallVector<Value> offsets(adaptor.getOffsets());
    auto inside = MutableArrayRef(offsets).take_back(parts.coordinates.size());
    for (auto [offset, step] : llvm::zip_equal(inside, parts.coordinates))
      if (step != 0)
        offset = arith::AddIOp::create(rewriter, loc, offset,
                                       arith::MulIOp::create(rewriter, loc, rank, emitI32(rewriter, loc, step)));
    Value barrier = emitBarrierSlot(rewriter, loc, adaptor.getBarrier(), adaptor.getSlot());
    Value all = arith::ConstantOp::create(rewriter, loc, rewriter.getI16IntegerAttr((1 << op.getParts()) - 1));
    for (const TmaBoxes::Box &box : parts.boxes.boxes)
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, loc, emitClusterAddress(rewriter, loc, emitByteOffset(rewriter, loc, target, box.byteOffset)),
          adaptor.getDesc(), emitCoordinates(rewriter, loc, offsets, box), barrier,
          /*im2colOffsets=*/ValueRange(), all, /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
          /*isCTAOnly=*/false, /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }

  /// Casts an address in this CTA's shared memory to one in the cluster's shared memory, which contains it.
  static Value emitClusterAddress(OpBuilder &builder, Location loc, Value address) {
    return LLVM::AddrSpaceCastOp::create(builder, loc, clusterPointer(builder), address);
  }
};

/// Each sender stores its accumulator into the first CTA's buffer. The barrier of that CTA counts the bytes that have
/// arrived, so no fence is needed. The first CTA adds the received values to its own and signals to each sender that
/// the buffer is free again.
struct ClusterSumLowering : OpConversionPattern<cta::ClusterSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ClusterSumOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value rank = emitRank(rewriter, loc), zero = emitI32(rewriter, loc, 0);
    Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, rank, zero);
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange(adaptor.getValue()), isFirst, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(rewriter, loc, emitReceive(op, adaptor, rewriter));
      rewriter.setInsertionPointToStart(branch.elseBlock());
      emitSend(op, adaptor, rank, rewriter);
      scf::YieldOp::create(rewriter, loc, adaptor.getValue());
    }
    rewriter.replaceOpWithMultiple(op, {branch.getResults()});
    return success();
  }

private:
  /// Plans the offsets in the buffer. Several accumulators may pass through it, one after another. The part of each
  /// warp has the same offset for all accumulators, namely the offset for the largest one. So no warp overwrites data
  /// that another warp has yet to copy.
  static PartialOffsets planOffsets(cta::ClusterSumOp op) {
    PartialOffsets offsets(cast<RankedTensorType>(op.getValue().getType()));
    offsets.warpStride = op.getBuffer().getType().getBytesPerSlot() / offsets.warps;
    return offsets;
  }

  static Registers emitReceive(cta::ClusterSumOp op, OneToNOpAdaptor adaptor, OpBuilder &builder) {
    Location loc = op.getLoc();
    PartialOffsets offsets = planOffsets(op);
    int64_t bytes = offsets.warps * offsets.warpBytes * (op.getCtas() - 1);
    auto announces = scf::IfOp::create(builder, loc, emitIsFirstOfRole(builder, op), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(announces.thenBlock());
      emitExpect(builder, loc, adaptor.getSent().front(), bytes);
    }
    emitBarrierWait(builder, loc, adaptor.getSent().front(), adaptor.getParity().front());
    Registers sums(adaptor.getValue());
    for (int64_t sender = 1; sender < int64_t(op.getCtas()); ++sender) {
      int64_t slot = (sender - 1) * op.getBuffer().getType().getBytesPerSlot();
      Value start = emitByteOffset(builder, loc, adaptor.getBuffer().front(), slot);
      sums = offsets.emitAdditions(builder, loc, sums, offsets.emitBase(builder, loc, start));
    }
    Value lane = emitLane(builder, loc);
    Value target = arith::AddIOp::create(builder, loc, lane, emitI32(builder, loc, 1));
    emitArrivals(builder, loc, lane, op.getCtas() - 1, adaptor.getTaken().front(), target);
    return sums;
  }

  static void emitSend(cta::ClusterSumOp op, OneToNOpAdaptor adaptor, Value rank, OpBuilder &builder) {
    Location loc = op.getLoc();
    PartialOffsets offsets = planOffsets(op);
    // The buffer is initially free, so the first wait must not block.
    Value parity = arith::XOrIOp::create(builder, loc, adaptor.getParity().front(), emitI32(builder, loc, 1));
    emitBarrierWait(builder, loc, adaptor.getTaken().front(), parity);
    int64_t slotBytes = op.getBuffer().getType().getBytesPerSlot();
    Value slot = arith::SubIOp::create(builder, loc, rank, emitI32(builder, loc, 1));
    Value offset = arith::MulIOp::create(builder, loc, slot, emitI32(builder, loc, slotBytes));
    Value buffer = adaptor.getBuffer().front(), zero = emitI32(builder, loc, 0);
    Value start = LLVM::GEPOp::create(builder, loc, buffer.getType(), builder.getI8Type(), buffer,
                                      ArrayRef<LLVM::GEPArg>{offset});
    offsets.emitStores(builder, loc, adaptor.getValue(), offsets.emitBase(builder, loc, start));
    NVVM::FenceProxyOp::create(builder, loc, NVVM::ProxyKind::async_shared,
                               NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
    NVVM::SyncWarpOp::create(builder, loc, emitI32(builder, loc, -1));
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, emitLane(builder, loc), zero);
    auto branch = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value part = offsets.emitWarpPart(builder, loc, start);
    Value remote = NVVM::MapaOp::create(builder, loc, clusterPointer(builder), part, zero);
    Value barrier = NVVM::MapaOp::create(builder, loc, clusterPointer(builder), adaptor.getSent().front(), zero);
    // The NVVM operation does not accept a barrier in another CTA's shared memory.
    PtxStatement statement;
    statement.text = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];";
    statement.operands = {remote, part, emitI32(builder, loc, offsets.warpBytes), barrier};
    emitPtx(builder, loc, statement);
  }

  static Value emitLane(OpBuilder &builder, Location loc) {
    return arith::AndIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 31));
  }

  /// Makes each of the first `count` lanes arrive at `barrier`, on behalf of the whole warp. Each lane arrives at the
  /// barrier in the CTA whose rank is the lane's value of `target`.
  static void emitArrivals(OpBuilder &builder, Location loc, Value lane, int64_t count, Value barrier, Value target) {
    NVVM::SyncWarpOp::create(builder, loc, emitI32(builder, loc, -1));
    Value arrives = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane, emitI32(builder, loc, count));
    auto branch = scf::IfOp::create(builder, loc, arrives, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitRemoteArrive(builder, loc, barrier, target);
  }
};

} // namespace

static LogicalResult checkCluster(Operation *op, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Clusters))
    return op->emitOpError() << "needs clusters, which " << gpu.name << " lacks; sm_90 and later have them";
  return success();
}

void registerClusterLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ClusterIndexLowering<cta::ClusterRankOp, NVVM::ClusterId>,
                         ClusterIndexLowering<cta::ClusterIdOp, NVVM::ClusterIdXOp>,
                         ClusterIndexLowering<cta::NumClustersOp, NVVM::ClusterDimXOp>, ClusterBarrierLowering,
                         TmaMulticastLowering, ClusterSumLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::ClusterRankOp, cta::ClusterIdOp, cta::NumClustersOp, cta::ClusterBarrierOp, cta::ClusterSumOp>(
      checkCluster);
}

} // namespace tile::conversion
