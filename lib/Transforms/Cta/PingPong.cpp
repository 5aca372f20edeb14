// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-ping-pong: let two consumer warp groups alternate between tiles.
//
// One team's epilogue overlaps the other's main loop. Both run the consumer role, with separate registers and buffers;
// team t computes the CTA's programs t, t + 2, t + 4, … The producer still copies for all programs, so a team skips the
// slots of the other team's steps. Main loops and their slots follow each other in the order of programs: a team begins
// its main loop when the other team has issued the last wgmma of the preceding one.
//
//   programs {                             team = cta.team; n = steps of a program
//     A                                    if team == 1: skip n slots
//     for k: ring_wait; acc += …    ==>    programs {
//     B(acc)                                 A;  turn_begin
//   }                                        for k: ring_wait; acc += …
//                                            turn_end;  B(acc);  skip n slots
//                                          }
//
// Two teams in the consumer's role (`teams` of #cta.role) make cta-lower-programs assign every other program of the CTA
// to each of them.
#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/GemmPrograms.h"
#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/SharedMemory.h"
#include "Transforms/I32Arith.h"
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
constexpr unsigned warpsPerTeam = 4; // each team is a warp group, with separate registers and barriers

struct PingPongPlan {
  cta::WarpRolesOp roles;
  unsigned consumer = 0; ///< The role that gets teams; the other one fills its ring.
  ProgramsOp programs;   ///< The programs of the consumer role.
  Operation *mainLoop;   ///< The loop that uses the ring, in the body of `programs`.
  scf::ForOp steps;      ///< The producer's loop; each iteration fills one slot.
  Value ring;
  SmallVector<cta::AllocOp> buffers; ///< Buffers that the consumer warps use among themselves.
};

/// Returns the only operation of its kind inside `outer`, or null.
template <typename OpType> OpType findOnly(Operation *outer) {
  OpType found;
  bool isOnly = true;
  outer->walk([&](OpType op) {
    isOnly &= !found;
    found = op;
  });
  return isOnly ? found : OpType();
}

/// Determines whether teams can alternate; if not, `reason` says why.
class Planner {
public:
  Planner(KernelOp kernel, const target::GpuTarget &gpu) : kernel(kernel), gpu(gpu) {}

  std::optional<PingPongPlan> run() {
    plan.roles = cta::findRoles(kernel);
    if (!plan.roles)
      return refuse("the kernel has no producer warp");
    if (kernel.getNumWarps() != warpsPerTeam)
      return refuse("num_warps must be 4");
    if (kernel.getClusterCtas() > 1)
      return refuse("the kernel uses clusters");
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

  /// Returns true if there is exactly one role besides the copying thread.
  bool findConsumer() {
    reason = "the kernel has roles other than one consumer and one producer thread";
    SmallVector<cta::Role> all = plan.roles.getAll();
    auto isOfWarps = [](const cta::Role &role) { return !role.getAttr().getOneThread(); };
    plan.consumer = llvm::find_if(all, isOfWarps) - all.begin();
    return all.size() == 2 && llvm::count_if(all, isOfWarps) == 1;
  }

  /// Returns true if the consumer role does nothing but compute whole programs.
  bool findPrograms() {
    reason = "the consumer does not just compute whole programs of a persistent kernel";
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
    reason = "programs use more than one ring, or read it in more than one loop";
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
    reason = "a tensor map that the kernel encodes serves one program at a time";
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

  /// Rewrites the kernel. Returns false, without a change, if the number of steps may differ between programs.
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
  /// Also makes the producer a whole warp group, with a separate register count.
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

  /// Emits the team index, and the number of slots that a team skips for each program of the other team.
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
    I32Arith n(rewriter, loc);
    auto second = scf::IfOp::create(rewriter, loc, n.equal(team, n.constant(1)), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(second.thenBlock());
      emitSkip();
    }
    rewriter.setInsertionPoint(plan.mainLoop);
    cta::TurnBeginOp::create(rewriter, loc, teams, /*teams=*/true);
    emitTurnEnd();
    rewriter.setInsertionPoint(plan.programs.getBody().front().getTerminator());
    emitSkip();
  }

  void emitSkip() { cta::RingSkipOp::create(rewriter, loc, plan.ring, stepsOfOther); }

  /// Returns the last operation that is or contains a wgmma; null if there is none.
  static Operation *findLastMmas(Block &block) {
    auto multiplies = [](Operation &op) {
      return op.walk([](cta::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
    };
    auto found = llvm::find_if(llvm::reverse(block), multiplies);
    return found == block.rend() ? nullptr : &*found;
  }

  /// Passes the turn to the other team when the last wgmma has been issued, before it is awaited.
  void emitTurnEnd() {
    auto end = [&] { cta::TurnEndOp::create(rewriter, loc, teams, /*teams=*/true); };
    auto branch = dyn_cast<scf::IfOp>(plan.mainLoop);
    if (Operation *last = branch && branch.elseBlock() ? findLastMmas(*branch.thenBlock()) : nullptr) {
      rewriter.setInsertionPointAfter(last);
      end();
      rewriter.setInsertionPointToStart(branch.elseBlock());
      return end();
    }
    rewriter.setInsertionPointAfter(plan.mainLoop);
    end();
  }

  /// Gives each team separate slots of each buffer.
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
        I32Arith n(rewriter, slot.getLoc());
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
