// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp roles: all threads initialize the barriers and synchronize, then the warps of different roles diverge.
//
//   cta.warp_roles role <a, warps = 8, registers = 232> { A } role <b, warps = 4, registers = 40, one_thread> { B }
//   ==>
//   if (thread 0) { mbarrier.init …  fence }  shared values  barrier
//   if (warp < 8) { setmaxnreg.inc  A }
//   else { setmaxnreg.dec  if (warp == 8 && elect.sync) { B } }
//
// Each further role is another branch. The warp index is read from lane 0, so ptxas can infer that it is uniform in the
// warp. The branches are created last: until then, patterns query the warp_roles operation for the warps and barriers
// of an operation's role.
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
    // A synchronous copy initializes the barrier itself.
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

/// Synchronizes all threads of the CTA or cluster, after which they may use the barriers, including those of peer CTAs.
void emitBarrierOfAll(OpBuilder &builder, Location loc, KernelOp kernel) {
  if (kernel.getClusterCtas() > 1)
    emitClusterBarrier(builder, loc);
  else
    NVVM::BarrierOp::create(builder, loc);
}

void moveBody(Region &region, Block *target) {
  target->getOperations().splice(std::prev(target->end()), region.front().getOperations());
}

/// Emits the role's code at the insertion point, which only the role's warps reach.
void lowerRole(OpBuilder &builder, const cta::Role &role, std::optional<unsigned> registersAtStart, Value warp) {
  Location loc = role.getBody().getLoc();
  if (unsigned registers = role.getAttr().getRegisters())
    NVVM::SetMaxRegisterOp::create(builder, loc, registers,
                                   registers > *registersAtStart ? NVVM::SetMaxRegisterAction::increase
                                                                 : NVVM::SetMaxRegisterAction::decrease);
  if (!role.getAttr().getOneThread())
    return moveBody(role.getBody(), builder.getInsertionBlock());
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp, emitI32(builder, loc, role.getFirstWarp()));
  auto firstWarp = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(firstWarp.thenBlock());
  Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), /*membermask=*/Value());
  auto oneThread = scf::IfOp::create(builder, loc, elected, /*withElseRegion=*/false);
  moveBody(role.getBody(), oneThread.thenBlock());
}

void lowerRoles(cta::WarpRolesOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<cta::Role> roles = op.getAll();
  std::optional<unsigned> registersAtStart = op.getRegistersAtStart();
  Value warp = emitUniformWarpId(builder, loc);
  for (const cta::Role &role : ArrayRef(roles).drop_back()) {
    Value end = emitI32(builder, loc, role.getFirstWarp() + role.getAttr().countWarps());
    Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp, end);
    auto branch = scf::IfOp::create(builder, loc, isIn, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    lowerRole(builder, role, registersAtStart, warp);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  lowerRole(builder, roles.back(), registersAtStart, warp);
  op.erase();
}

// Turns are implemented with one named barrier per warp group: a group waits at its own barrier, and the preceding
// group arrives at that barrier to end its turn.

constexpr unsigned threadsAtTurn = 2 * target::warpsPerGroup * target::threadsPerWarp;

void emitArrival(OpBuilder &builder, Location loc, Value barrier) {
  // The intrinsic is used because NVVM's operation would be lowered to inline PTX.
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{barrier, emitI32(builder, loc, threadsAtTurn)});
}

/// Lets the last group arrive at the barrier of the first group, as if it had just ended a turn.
struct TurnOpenLowering : OpConversionPattern<cta::TurnOpenOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnOpenOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, emitGroupInRole(rewriter, op),
                                         emitI32(rewriter, loc, op.getGroups() - 1));
    auto branch = scf::IfOp::create(rewriter, loc, isLast, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    emitArrival(rewriter, loc, emitI32(rewriter, loc, NamedBarriers::firstTurnBarrier(op, op.getGroups())));
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnBeginLowering : OpConversionPattern<cta::TurnBeginOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnBeginOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = arith::AddIOp::create(rewriter, loc, emitGroupInRole(rewriter, op),
                                          emitI32(rewriter, loc, NamedBarriers::firstTurnBarrier(op, op.getGroups())));
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op, /*res=*/Type(), barrier, emitI32(rewriter, loc, threadsAtTurn),
                                                 NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
    return success();
  }
};

struct TurnEndLowering : OpConversionPattern<cta::TurnEndOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TurnEndOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value group = emitGroupInRole(rewriter, op);
    Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, group,
                                         emitI32(rewriter, loc, op.getGroups() - 1));
    Value first = emitI32(rewriter, loc, NamedBarriers::firstTurnBarrier(op, op.getGroups()));
    Value next = arith::AddIOp::create(rewriter, loc, group,
                                       emitI32(rewriter, loc, NamedBarriers::firstTurnBarrier(op, op.getGroups()) + 1));
    emitArrival(rewriter, loc, arith::SelectOp::create(rewriter, loc, isLast, first, next));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// Returns the roles that have several threads and may therefore contain barriers.
static SmallVector<cta::Role> findWholeRoles(Operation *op) {
  SmallVector<cta::Role> roles;
  if (auto all = op->getParentOfType<cta::WarpRolesOp>())
    roles = all.getAll();
  llvm::erase_if(roles, [](const cta::Role &role) { return role.getAttr().getOneThread(); });
  return roles;
}

unsigned NamedBarriers::ofRole(const cta::Role &role) {
  SmallVector<cta::Role> roles = findWholeRoles(&role.getBody().front().front());
  auto found = llvm::find_if(roles, [&](const cta::Role &other) { return &other.getBody() == &role.getBody(); });
  return found == roles.begin() ? 1 : count - (found - roles.begin());
}

unsigned NamedBarriers::firstTurnBarrier(Operation *turn, unsigned groups) {
  unsigned warps = 0;
  for (const cta::Role &role : findWholeRoles(turn))
    warps = std::max(warps, role.getFirstWarp() + role.getAttr().countWarps());
  return firstOfGroups + std::max(groups, warps / target::warpsPerGroup);
}

static LogicalResult checkTurn(Operation *op, unsigned groups) {
  if (cta::isTurnOfTeams(op))
    return op->emitOpError() << "is for teams; run cta-lower-rings first";
  unsigned others = std::max<unsigned>(findWholeRoles(op).size(), 1) - 1;
  unsigned needed = NamedBarriers::firstTurnBarrier(op, groups) + groups + others;
  if (needed > NamedBarriers::count)
    return op->emitOpError() << "is for " << groups << " warp groups, which need " << needed
                             << " named barriers, but a CTA has " << NamedBarriers::count;
  return success();
}

void emitBarriersReady(KernelOp kernel) {
  cta::WarpRolesOp roles = cta::findRoles(kernel);
  // Even in kernels without roles, mbarriers synchronize the CTAs of a cluster and signal that MMAs are complete.
  bool arrives = kernel.walk([](cta::Tcgen05CommitOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!roles && !arrives && kernel.getClusterCtas() <= 1)
    return;
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  if (roles) // before the computation that all roles share, so that it overlaps the time until all warps arrive
    builder.setInsertionPoint(&*llvm::find_if_not(body, [](Operation &op) {
      return isa<cta::AllocOp, cta::MbarrierAllocOp, cta::TmaPrefetchOp, arith::ConstantOp>(op);
    }));
  Location loc = roles ? roles.getLoc() : kernel.getLoc();
  emitBarrierInit(builder, loc, kernel);
  if (roles)
    builder.setInsertionPoint(roles);
  emitBarrierOfAll(builder, loc, kernel);
}

void lowerWarpRoles(ModuleOp module) {
  SmallVector<cta::WarpRolesOp> all;
  module.walk([&](cta::WarpRolesOp op) { all.push_back(op); });
  llvm::for_each(all, lowerRoles);
}

/// Returns true for operations that all threads of a role must execute together.
static bool isCollective(Operation *op) {
  auto map = dyn_cast<cta::MakeTensorMapOp>(op);
  return (map && !map.getSingle()) || isa<cta::BarrierOp, cta::TmaLoadSyncOp, cta::ClusterSumOp, cta::FlagSetOp,
                                          cta::FlagWaitOp, cta::TurnOpenOp, cta::TurnBeginOp, cta::TurnEndOp>(op);
}

static LogicalResult checkWarpRoles(cta::WarpRolesOp op, const target::GpuTarget &gpu) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!gpu.has(target::Feature::SetMaxRegisters) && op.countResidentCtas() != 0)
    return op.emitOpError() << "needs setmaxnreg, which " << gpu.name << " lacks; sm_90a has it";
  if (op->getParentOp() != kernel)
    return op.emitOpError() << "must be in the kernel's body, where all warps synchronize";
  if (*kernel.getBody().front().getOps<cta::WarpRolesOp>().begin() != op)
    return op.emitOpError() << "is the kernel's second; barriers are initialised once, before the first";
  for (const cta::Role &role : op.getAll()) {
    if (!role.getAttr().getOneThread())
      continue;
    WalkResult result = role.getBody().walk([&](Operation *inner) -> WalkResult {
      if (isCollective(inner))
        return inner->emitOpError() << "must be executed by all threads of a role, but role '"
                                    << role.getAttr().getName() << "' has one thread";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

void registerRoleLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<TurnOpenLowering, TurnBeginLowering, TurnEndLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::TurnOpenOp, cta::TurnBeginOp, cta::TurnEndOp>(
      [](auto op, const target::GpuTarget &) { return checkTurn(op, op.getGroups()); });
  lowerings.check<cta::WarpRolesOp>(checkWarpRoles);
}

} // namespace tile::conversion
