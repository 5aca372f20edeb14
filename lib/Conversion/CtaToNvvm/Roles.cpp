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

} // namespace

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
  if (kernel.getProducerWarps() != 4)
    return op.emitOpError() << "needs one warp group for the producer but the kernel has " << kernel.getProducerWarps()
                            << " producer warps";
  return success();
}

void registerRoleLowerings(Lowerings &lowerings) {
  lowerings.check<cta::WarpRolesOp>(checkWarpRoles);
}

} // namespace tile::conversion
