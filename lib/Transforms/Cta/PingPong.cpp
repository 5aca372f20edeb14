// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-ping-pong: let two consumer warp groups alternate between tiles.
//
// One team's epilogue runs under the other's main loop. Both run the consumer role, with registers and buffers of their
// own; team t computes the CTA's programs number t, t + 2, t + 4, … The producer goes on copying for all programs, so a
// team skips the slots of the other's steps. Main loops follow each other in the order of programs, as their slots do:
// a team begins when the other has issued its last wgmma.
//
//   programs {                             team = cta.team; n = steps of a program
//     A                                    if team == 1: skip n slots
//     for k: ring_wait; acc += …    ==>    programs {
//     B(acc)                                 A;  turn_begin
//   }                                        for k: ring_wait; acc += …
//                                            turn_end;  B(acc);  skip n slots
//                                          }
//
// That the consumer's role has two teams (`teams` of #cta.role) makes a team's programs every other one of the CTA's
// (cta-lower-programs).
#include "Analysis/GemmPrograms.h"
#include "Analysis/LoopRange.h"
#include "Analysis/RolePlan.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/SharedMemory.h"
#include "Transforms/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_CTAPINGPONG
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned teams = 2;
constexpr unsigned warpsPerTeam = 4; // a warp group, which has registers and barriers of its own

struct PingPongPlan {
  cta::WarpRolesOp roles;
  unsigned consumer = 0; ///< The role that is to have teams; the other one fills its ring.
  ProgramsOp programs;   ///< Of the consumer role.
  Operation *mainLoop;   ///< What uses the ring, in the body of `programs`.
  scf::ForOp steps;      ///< Of the producer: fills one slot each.
  Value ring;
  SmallVector<cta::AllocOp> buffers; ///< That the consumer warps use among themselves.
};

/// The only operation of its kind inside of `outer`, or null.
template <typename OpType> OpType findOnly(Operation *outer) {
  OpType found;
  bool isOnly = true;
  outer->walk([&](OpType op) {
    isOnly &= !found;
    found = op;
  });
  return isOnly ? found : OpType();
}

/// Finds out whether teams can alternate; if not, `reason` says why.
class Planner {
public:
  Planner(KernelOp kernel, const target::GpuTarget &gpu) : kernel(kernel), gpu(gpu) {}

  std::optional<PingPongPlan> run() {
    plan.roles = cta::findRoles(kernel);
    if (!plan.roles)
      return refuse("the kernel has no producer warp");
    if (kernel.getNumWarps() != warpsPerTeam)
      return refuse("a program is not computed by 4 warps");
    if (kernel.getClusterCtas() > 1)
      return refuse("the CTAs of a cluster share its operands or steps");
    if (!findConsumer() || !findPrograms() || !findSteps() || !findBuffers())
      return refuse(reason);
    return plan;
  }

  StringRef reason;

private:
  std::nullopt_t refuse(StringRef text) {
    reason = text;
    return std::nullopt;
  }

  /// Beside a thread that copies there is one role.
  bool findConsumer() {
    reason = "there are other roles than one that computes and a thread that copies";
    SmallVector<cta::Role> all = plan.roles.getAll();
    auto isOfWarps = [](const cta::Role &role) { return !role.getAttr().getOneThread(); };
    plan.consumer = llvm::find_if(all, isOfWarps) - all.begin();
    return all.size() == 2 && llvm::count_if(all, isOfWarps) == 1;
  }

  /// To compute programs, each of them whole, is all that the consumer role does.
  bool findPrograms() {
    reason = "the kernel is not persistent, or its programs are cut into parts";
    for (Operation &op : plan.roles.getBodies()[plan.consumer].front()) {
      if (auto programs = dyn_cast<ProgramsOp>(op)) {
        if (plan.programs || programs.getWork().splitsSteps())
          return false;
        plan.programs = programs;
      } else if (!isMemoryEffectFree(&op) && !isa<cta::TmaStoreWaitOp>(op)) {
        return false;
      }
    }
    return bool(plan.programs);
  }

  bool findSteps() {
    reason = "programs use more than one ring, or use it more than once";
    auto acquire = findOnly<cta::RingAcquireOp>(plan.roles);
    plan.steps = acquire ? dyn_cast<scf::ForOp>(acquire->getParentOp()) : scf::ForOp();
    if (!plan.steps || !isa<ProgramsOp>(plan.steps->getParentOp()) ||
        !plan.steps.getInductionVar().getType().isInteger(32))
      return false;
    plan.ring = acquire.getRing();
    plan.mainLoop = nullptr;
    return !plan.roles.getBodies()[plan.consumer]
                .walk([&](cta::RingWaitOp wait) {
                  Operation *op = plan.programs.getBody().front().findAncestorOpInBlock(*wait);
                  bool isOther = !op || (plan.mainLoop && op != plan.mainLoop);
                  plan.mainLoop = op;
                  return isOther ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted() &&
           plan.mainLoop;
  }

  bool findBuffers() {
    int64_t bytes = target::sharedAlignment;
    kernel.walk([&](cta::RingAllocOp ring) { bytes += ring.getType().getBytes(); });
    bool hasOtherUses = false;
    kernel.walk([&](cta::AllocOp alloc) {
      bytes += alloc.getType().getBytes() * teams;
      plan.buffers.push_back(alloc);
      hasOtherUses |= alloc.getType().getSlots() > 1 && !llvm::all_of(alloc->getUsers(), llvm::IsaPred<cta::SlotOp>);
    });
    reason = "a tensor map that the kernel makes is for one program at a time";
    if (hasOtherUses || kernel.walk([](cta::MakeTensorMapOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return false;
    reason = "the buffers of two teams do not fit into shared memory";
    return bytes <= int64_t(gpu.maxSharedPerCta);
  }

  KernelOp kernel;
  const target::GpuTarget &gpu;
  PingPongPlan plan;
};

class PingPong {
public:
  PingPong(KernelOp kernel, PingPongPlan plan)
      : kernel(kernel), rewriter(kernel.getContext()), plan(std::move(plan)), loc(this->plan.programs.getLoc()) {}

  /// False if the number of steps is not the same for all programs.
  bool run() {
    rewriter.setInsertionPoint(plan.programs);
    SmallVector<Value> bounds = getBounds(plan.steps);
    if (!canHoistOutOf(plan.roles, bounds))
      return false;
    for (Value &bound : bounds)
      bound = hoistOutOf(plan.roles, bound, rewriter);
    emitTeam(bounds[0], bounds[1], bounds[2]);
    emitPrograms();
    divideBuffers();
    setRoles(*target::planRoleRegisters(cta::getTarget(kernel), teams * warpsPerTeam));
    return true;
  }

private:
  /// The producer, too, is a whole warp group, which has registers of its own.
  void setRoles(target::RoleRegisters registers) {
    SmallVector<Attribute> attributes;
    for (auto [index, role] : llvm::enumerate(plan.roles.getRoles().getAsRange<cta::RoleAttr>())) {
      bool isConsumer = index == plan.consumer;
      attributes.push_back(cta::RoleAttr::get(kernel.getContext(), role.getName(), warpsPerTeam, isConsumer ? teams : 1,
                                              isConsumer ? registers.consumer : registers.producer,
                                              role.getOneThread()));
    }
    plan.roles.setRolesAttr(rewriter.getArrayAttr(attributes));
  }

  /// The team, and the slots that it leaves to the other one for a program.
  void emitTeam(Value lower, Value upper, Value step) {
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&plan.roles.getBodies()[plan.consumer].front());
      cta::TurnOpenOp::create(rewriter, loc, teams, /*teams=*/true);
      team = cta::TeamOp::create(rewriter, loc);
    }
    stepsOfOther = LoopRange(rewriter, loc, lower, upper, step, plan.steps.getUnsignedCmp()).emitCount();
  }

  void emitPrograms() {
    Numbers n(rewriter, loc);
    auto second = scf::IfOp::create(rewriter, loc, n.equal(team, n.constant(1)), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(second.thenBlock());
      emitSkip();
    }
    rewriter.setInsertionPoint(plan.mainLoop);
    cta::TurnBeginOp::create(rewriter, loc, teams, /*teams=*/true);
    emitHandover();
    rewriter.setInsertionPoint(plan.programs.getBody().front().getTerminator());
    emitSkip();
  }

  void emitSkip() { cta::RingSkipOp::create(rewriter, loc, plan.ring, stepsOfOther); }

  /// The last operation that multiplies, or does so in its regions; null if there is none.
  static Operation *findLastProducts(Block &block) {
    auto multiplies = [](Operation &op) {
      return op.walk([](cta::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
    };
    auto found = llvm::find_if(llvm::reverse(block), multiplies);
    return found == block.rend() ? nullptr : &*found;
  }

  /// It is the other team's turn when the last wgmma has been issued, before it is awaited.
  void emitHandover() {
    auto end = [&] { cta::TurnEndOp::create(rewriter, loc, teams, /*teams=*/true); };
    auto branch = dyn_cast<scf::IfOp>(plan.mainLoop);
    if (Operation *last = branch && branch.elseBlock() ? findLastProducts(*branch.thenBlock()) : nullptr) {
      rewriter.setInsertionPointAfter(last);
      end();
      rewriter.setInsertionPointToStart(branch.elseBlock());
      return end();
    }
    rewriter.setInsertionPointAfter(plan.mainLoop);
    end();
  }

  /// A team has slots of each buffer for itself.
  void divideBuffers() {
    for (cta::AllocOp alloc : plan.buffers) {
      cta::BufferType type = alloc.getType();
      int64_t slots = type.getSlots();
      rewriter.setInsertionPoint(plan.roles);
      Value both = cta::AllocOp::create(rewriter, alloc.getLoc(), type.withSlots(teams * slots),
                                        /*offset=*/IntegerAttr());
      if (slots == 1) {
        rewriter.setInsertionPointAfterValue(team);
        rewriter.replaceOpWithNewOp<cta::SlotOp>(alloc, type, both, team);
        continue;
      }
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers())) {
        auto slot = cast<cta::SlotOp>(user);
        rewriter.setInsertionPoint(slot);
        Numbers n(rewriter, slot.getLoc());
        Value index = n.add(n.mul(team, n.constant(slots)), slot.getIndex());
        rewriter.replaceOpWithNewOp<cta::SlotOp>(slot, slot.getType(), both, index);
      }
      rewriter.eraseOp(alloc);
    }
  }

  KernelOp kernel;
  IRRewriter rewriter;
  PingPongPlan plan;
  Location loc;
  Value team, stepsOfOther;
};

struct CtaPingPong : tile::impl::CtaPingPongBase<CtaPingPong> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    if (!kernel.getPingPong())
      return;
    Planner planner(kernel, gpu);
    std::optional<PingPongPlan> plan = planner.run();
    if (!plan)
      return refuse(planner.reason);
    if (!PingPong(kernel, *plan).run())
      refuse("programs may have different numbers of steps");
  }

private:
  void refuse(StringRef reason) { getOperation().emitRemark() << "no ping-pong: " << reason; }
};

} // namespace
