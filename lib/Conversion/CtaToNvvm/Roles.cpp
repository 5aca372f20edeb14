// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp roles: all threads initialise the barriers and meet, then each warp goes its way.
//
//   cta.warp_roles consumer { A } producer { B }
//   ==>
//   if (thread 0) { mbarrier.init …  fence }  what both roles need  barrier
//   if (warp < num_warps * teams) { setmaxnreg.inc  A }
//   else { setmaxnreg.dec  if (warp == num_warps * teams && elect.sync) { B } }
//
// The number of the warp comes from lane 0, so that ptxas knows that it is the same in all lanes.
#include "EmitLayout.h"
#include "Patterns.h"
#include "Tma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tile::conversion {

namespace {

void emitBarrierInit(OpBuilder &builder, Location loc, KernelOp kernel) {
  auto branch = scf::IfOp::create(builder, loc, emitIsFirstThread(builder, loc), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  kernel.walk([&](cta::MbarrierAllocOp ring) {
    // A synchronous copy initialises its barrier itself.
    if (llvm::any_of(ring->getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>))
      return;
    for (int64_t slot = 0; slot < ring.getType().getSlots(); ++slot) {
      auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
      Value start = LLVM::AddressOfOp::create(builder, loc, pointer, sharedSymbol);
      Value barrier =
          emitByteOffset(builder, loc, start, int32_t(*ring.getOffset()) + slot * cta::MbarrierType::bytesPerSlot);
      NVVM::MBarrierInitOp::create(builder, loc, barrier, emitI32(builder, loc, ring.getArrivals()),
                                   /*predicate=*/Value());
    }
  });
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}

/// From here on, all may use the barriers, peers too.
void emitBarrierOfAll(OpBuilder &builder, Location loc, KernelOp kernel) {
  if (kernel.getClusterCtas() > 1)
    emitClusterBarrier(builder, loc);
  else
    NVVM::BarrierOp::create(builder, loc);
}

void setRegisters(OpBuilder &builder, Location loc, std::optional<uint32_t> registers,
                  NVVM::SetMaxRegisterAction action) {
  if (registers)
    NVVM::SetMaxRegisterOp::create(builder, loc, *registers, action);
}

void moveBody(Region &region, Block *target) {
  target->getOperations().splice(std::prev(target->end()), region.front().getOperations());
}

void lowerRoles(cta::WarpRolesOp op, KernelOp kernel) {
  // Not later than what is computed for both roles, so that this takes the time until all warps meet.
  OpBuilder builder(&*llvm::find_if_not(kernel.getBody().front(), [](Operation &op) {
    return isa<cta::AllocOp, cta::MbarrierAllocOp, cta::TmaPrefetchOp, arith::ConstantOp>(op);
  }));
  Location loc = op.getLoc();
  emitBarrierInit(builder, loc, kernel);
  builder.setInsertionPoint(op);
  emitBarrierOfAll(builder, loc, kernel);
  Value warp = emitUniformWarpId(builder, loc);
  Value consumerWarps = emitI32(builder, loc, kernel.getNumWarps() * kernel.getTeams());
  Value isConsumer = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp, consumerWarps);
  auto roles = scf::IfOp::create(builder, loc, isConsumer, /*withElseRegion=*/true);

  builder.setInsertionPointToStart(roles.thenBlock());
  setRegisters(builder, loc, op.getConsumerRegisters(), NVVM::SetMaxRegisterAction::increase);
  moveBody(op.getConsumer(), roles.thenBlock());

  builder.setInsertionPointToStart(roles.elseBlock());
  setRegisters(builder, loc, op.getProducerRegisters(), NVVM::SetMaxRegisterAction::decrease);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp, consumerWarps);
  auto firstWarp = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(firstWarp.thenBlock());
  Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), /*membermask=*/Value());
  auto oneThread = scf::IfOp::create(builder, loc, elected, /*withElseRegion=*/false);
  moveBody(op.getProducer(), oneThread.thenBlock());
  op.erase();
}

// A turn is a named barrier for each warp group: the group itself waits at it, and the one before arrives. Barriers 0
// and 1 are for all warps, and the next ones for each group by itself.

constexpr unsigned barriersForAll = 2;
constexpr unsigned threadsAtTurn = 2 * target::warpsPerGroup * target::threadsPerWarp;

Value emitGroup(OpBuilder &builder, Location loc) {
  return arith::DivUIOp::create(builder, loc, emitUniformWarpId(builder, loc),
                                emitI32(builder, loc, target::warpsPerGroup));
}

void emitArrival(OpBuilder &builder, Location loc, Value barrier) {
  // NVVM's operation is inline PTX.
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{barrier, emitI32(builder, loc, threadsAtTurn)});
}

/// The last group arrives at the first one's barrier, as if it had ended a turn.
struct TurnOpenLowering : OpConversionPattern<cta::TurnOpenOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnOpenOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, emitGroup(rewriter, loc),
                                         emitI32(rewriter, loc, op.getGroups() - 1));
    auto branch = scf::IfOp::create(rewriter, loc, isLast, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    emitArrival(rewriter, loc, emitI32(rewriter, loc, barriersForAll + op.getGroups()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnBeginLowering : OpConversionPattern<cta::TurnBeginOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnBeginOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = arith::AddIOp::create(rewriter, loc, emitGroup(rewriter, loc),
                                          emitI32(rewriter, loc, barriersForAll + op.getGroups()));
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op, /*res=*/Type(), barrier, emitI32(rewriter, loc, threadsAtTurn),
                                                 NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
    return success();
  }
};

struct TurnEndLowering : OpConversionPattern<cta::TurnEndOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnEndOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value group = emitGroup(rewriter, loc);
    Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, group,
                                         emitI32(rewriter, loc, op.getGroups() - 1));
    Value first = emitI32(rewriter, loc, barriersForAll + op.getGroups());
    Value next =
        arith::AddIOp::create(rewriter, loc, group, emitI32(rewriter, loc, barriersForAll + op.getGroups() + 1));
    emitArrival(rewriter, loc, arith::SelectOp::create(rewriter, loc, isLast, first, next));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// Barriers for all, for each group by itself, and for the turn of each.
static LogicalResult checkTurn(Operation *op, unsigned groups) {
  if (cta::isTurnOfTeams(op))
    return op->emitOpError() << "is of teams; run cta-lower-rings first";
  constexpr unsigned barriers = 16; // PTX ISA, bar
  if (barriersForAll + 2 * groups > barriers)
    return op->emitOpError() << "is for " << groups << " warp groups, which need " << barriersForAll + 2 * groups
                             << " named barriers, but a CTA has " << barriers;
  return success();
}

void lowerWarpRoles(KernelOp kernel) {
  SmallVector<cta::WarpRolesOp> all;
  kernel.walk([&](cta::WarpRolesOp op) { all.push_back(op); });
  for (cta::WarpRolesOp op : all)
    lowerRoles(op, kernel);
  // Without roles, CTAs of a cluster meet at barriers nevertheless.
  if (all.empty() && kernel.getClusterCtas() > 1) {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    emitBarrierInit(builder, kernel.getLoc(), kernel);
    emitBarrierOfAll(builder, kernel.getLoc(), kernel);
  }
}

static LogicalResult checkWarpRoles(cta::WarpRolesOp op, const target::GpuTarget &gpu) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!gpu.has(target::Feature::SetMaxRegisters) && op.getConsumerRegisters())
    return op.emitOpError() << "needs setmaxnreg, which " << gpu.name << " lacks; sm_90a has it";
  if (op->getParentOp() != kernel)
    return op.emitOpError() << "must stand in the kernel's body, where all warps meet";
  if (*kernel.getBody().front().getOps<cta::WarpRolesOp>().begin() != op)
    return op.emitOpError() << "is the kernel's second; barriers are initialised once, before the first";
  unsigned warps = kernel.getProducerWarps();
  if (op.getProducerRegisters() && warps != target::warpsPerGroup)
    return op.emitOpError() << "needs one warp group for the producer, whose registers it sets, but the kernel has "
                            << warps << " producer warps";
  if (warps == 0)
    return op.emitOpError() << "needs a warp for the producer but the kernel has 0 producer warps";
  return success();
}

void registerRoleLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<TurnOpenLowering, TurnBeginLowering, TurnEndLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::TurnOpenOp, cta::TurnBeginOp, cta::TurnEndOp>(
      [](auto op, const target::GpuTarget &) { return checkTurn(op, op.getGroups()); });
  lowerings.check<cta::WarpRolesOp>(checkWarpRoles);
}

} // namespace tile::conversion
