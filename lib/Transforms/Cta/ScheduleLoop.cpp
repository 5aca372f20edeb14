// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-schedule-loop: overlap the MMAs of a loop with each other and with the computation between them.
//
// Where wgmmas are issued, and where they are awaited:
//
//   only wgmmas that accumulate into their own result  in flight until the next ones are issued
//   several, one of which uses another's result        those that use none run one iteration ahead
//   several otherwise                                  issued early and awaited late within the iteration, if registers
//                                                      hold all of their operands and accumulators
//   outside of roles, others                           awaited where the accumulator is needed
//
// Analysis/Loops/MmaSchedule.h plans the schedule on the loop's graph (Analysis/Loops/LoopGraph.h), and RunAhead.h
// rewrites the loop if registers, rings and buffers allow it. This pass does not decide how many wgmmas are in flight
// at a wait; cta-insert-waits derives this number from the order. A remark reports the decision, and how long each
// resource of a multiprocessor is busy in an iteration (Analysis/Loops/LoopWork.h).
#include "Analysis/Loops/LoopWork.h"
#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/PeelLoop.h"
#include "Transforms/Cta/RunAhead.h"
#include "Transforms/Cta/TakeTurns.h"
#include "Transforms/Passes.h"

#include <algorithm>

namespace tile {
#define GEN_PASS_DEF_CTASCHEDULELOOP
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Reorders the operations of the body.
void reorder(const LoopGraph &graph, const MmaSchedule &schedule) {
  for (ScheduledNode scheduled : schedule)
    graph.operations[scheduled.node]->moveBefore(graph.body->getTerminator());
}

/// Returns true if several warp groups of one role run the loop, and it is tensor-core bound.
bool keepTensorCoresBusy(scf::ForOp loop, const LoopWork &work) {
  std::optional<cta::Role> role = cta::findRole(loop);
  return role && role->getAttr().getWarps() > target::warpsPerGroup &&
         work.tensorCores > std::max({work.special, work.arithmetic, work.shared, work.copies});
}

/// Returns true if issuing a late and an early wgmma together pays off.
bool hasLongMmas(scf::ForOp loop, const LoopWork &work) {
  return work.tensorCores >= target::tunedOf(cta::getTarget(loop)).longMmaClocks;
}

/// Returns true if threads have registers for the operands and accumulators of all wgmmas of an iteration, which may
/// all be in flight together once they are reordered, and for the loop's other carried and used values.
bool mayBeReordered(const LoopGraph &graph) {
  llvm::SetVector<Value> live;
  for (Operation *op : graph.operations) {
    for (Value value : getUsedValues(op))
      if (!graph.getNode(value) && !matchPattern(value, m_Constant()) && !value.getDefiningOp<SplatOp>())
        live.insert(value);
    if (auto mma = dyn_cast<cta::WgmmaOp>(op)) {
      live.remove(mma.getAcc()); // the result reuses the accumulator's registers
      live.insert_range(ValueRange{mma.getResult(), mma.getA()});
    }
  }
  int64_t registers = 0;
  for (Value value : live)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      registers += countRegisters(type);
  return registers <= countThreadRegisters(graph.operations.front());
}

/// Describes the schedule of a loop for a remark.
std::string describe(const LoopGraph &graph, const LoopPlan &plan) {
  size_t all = 0, early = 0; // MMAs
  bool isLateFirst = false;
  for (ScheduledNode scheduled : plan.order)
    if (graph.nodes[scheduled.node].kind == LoopNodeKind::mma) {
      isLateFirst |= all == 0 && scheduled.stage != LoopStage::early;
      ++all;
      early += scheduled.stage == LoopStage::early;
    }
  std::string mmas = std::to_string(all) + " MMAs ";
  switch (plan.overlap) {
  case MmaOverlap::nextMmas:
    return all == 1 ? "the MMA stays in flight until the next one is issued"
                    : mmas + "stay in flight until the next ones are issued";
  case MmaOverlap::nextIteration:
    return std::to_string(early) + " of " + mmas + "run an iteration ahead" +
           (isLateFirst ? ", issued after the others" : "");
  case MmaOverlap::withinIteration:
    return mmas + "are issued early and awaited late within each iteration";
  }
  llvm_unreachable("all overlaps are described");
}

/// Returns true if a wgmma may be awaited after `op` instead of before it. `op` must not write an operand of the wgmma,
/// and must not wait for anything else.
bool mayPass(cta::AwaitOp await, Operation *op) {
  bool isUser = llvm::is_contained(op->getOperands(), await.getResult());
  bool isHarmless = isa<LoadOp, cta::WgmmaOp, cta::AwaitOp>(op) || isMemoryEffectFree(op);
  return !isUser && isHarmless && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Returns true if the first of two wgmmas of a block must be complete before the second one: for a barrier between
/// them, or because an operation between them writes a buffer that the first one reads.
bool areSeparated(cta::WgmmaOp mma, cta::WgmmaOp next) {
  const std::array<Operation *, 2> read{getAlloc(mma.getA()), getAlloc(mma.getB())};
  for (Operation *op = mma->getNextNode(); op != next; op = op->getNextNode()) {
    WalkResult result = op->walk([&](Operation *nested) {
      bool isWritten = llvm::any_of(getSharedAccesses(nested), [&](const SharedAccess &access) {
        return access.isWrite && llvm::is_contained(read, getAlloc(access.buffer).getOperation());
      });
      return isWritten || isa<cta::BarrierOp>(nested) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

/// Lets a wgmma accumulate into a result that is still in flight, and erases the await of that result: wgmmas complete
/// in issue order, so the await of the last one of a chain serves all of them.
void chainAccumulators(KernelOp kernel) {
  kernel.walk([](cta::AwaitOp await) {
    auto mma = await.getAcc().getDefiningOp<cta::WgmmaOp>();
    auto next = await->hasOneUse() ? dyn_cast<cta::WgmmaOp>(*await->user_begin()) : cta::WgmmaOp();
    bool isChain = mma && next && next.getAcc() == await.getResult() && mma->getBlock() == next->getBlock() &&
                   mma.getToken().hasOneUse() && mma.getToken() == await.getToken();
    if (!isChain || !mma.getBufferA() || !next.getBufferA() || mma.getNAttr() != next.getNAttr() ||
        mma.isSynchronous() || next.isSynchronous() || areSeparated(mma, next))
      return;
    next.getAccMutable().assign(mma.getResult());
    await.erase();
  });
}

/// Sinks awaits to the uses of their results, so that several wgmmas are issued back to back. A copy of the result in
/// other registers moves with the await.
void awaitLate(KernelOp kernel) {
  SmallVector<cta::AwaitOp> awaits;
  kernel.walk([&](cta::AwaitOp await) {
    auto mma = await.getAcc().getDefiningOp<cta::WgmmaOp>();
    // Registers of a left operand may be reused after the wgmma.
    if (mma && mma.getToken() == await.getToken() && mma.getBufferA() && mma->getBlock() == await->getBlock())
      awaits.push_back(await);
  });
  for (cta::AwaitOp await : llvm::reverse(awaits)) {
    cta::CopyRegistersOp copy;
    if (await->hasOneUse())
      copy = dyn_cast<cta::CopyRegistersOp>(*await->user_begin());
    if (copy && copy->getBlock() != await->getBlock())
      copy = {};
    auto isCopyOrMayPass = [&](Operation *op) {
      return op == copy || (mayPass(await, op) && !(copy && llvm::is_contained(op->getOperands(), copy.getResult())));
    };
    Operation *next = await->getNextNode();
    while (isCopyOrMayPass(next))
      next = next->getNextNode();
    await->moveBefore(next);
    if (copy)
      copy->moveAfter(await);
  }
}

/// Returns true if the kernel copies by TMA. Awaits then stay where they are: with roles, slots are released after the
/// awaits of their readers, and a TMA copy in a loop awaits all threads.
bool copiesByTma(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<cta::WarpRolesOp, cta::TmaLoadSyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct CtaScheduleLoop : tile::impl::CtaScheduleLoopBase<CtaScheduleLoop> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    rates = target::ratesOf(gpu);
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<cta::WgmmaOp>().empty())
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      schedule(rewriter, loop);
    // Programs of one K step have no loop.
    getOperation().walk([](ProgramsOp programs) {
      Block &body = programs.getBody().front();
      if (body.getOps<cta::WgmmaOp>().empty())
        return;
      LoopGraph graph(programs);
      if (std::optional<MmaSchedule> plan = graph.build() ? planWithin(graph.nodes) : std::nullopt)
        reorder(graph, *plan);
      llvm::for_each(body.getOps<cta::RingReleaseOp>(), avoidBranch);
    });
    if (!copiesByTma(getOperation())) {
      chainAccumulators(getOperation());
      awaitLate(getOperation());
    }
    takeTurns(rewriter, getOperation());
  }

private:
  void schedule(IRRewriter &rewriter, scf::ForOp loop) {
    LoopWork work = countWork(*loop.getBody(), rates);
    LoopGraph graph(loop);
    std::optional<LoopPlan> plan;
    if (graph.build())
      plan = planLoop(graph.nodes,
                      {.groupsKeepBusy = keepTensorCoresBusy(loop, work), .takesLong = hasLongMmas(loop, work)},
                      [&](const MmaSchedule &order) { return mayRunAhead(graph, order); });
    bool keepsOrder = plan && plan->overlap == MmaOverlap::withinIteration && !mayBeReordered(graph);
    if (plan)
      emitRemark(loop.getLoc()) << (keepsOrder ? "MMAs keep their order: another order needs more registers"
                                               : describe(graph, *plan))
                                << "; clocks per iteration: " << work.print();
    if (plan && plan->overlap != MmaOverlap::withinIteration)
      return runAhead(rewriter, graph, plan->order);
    if (plan && !keepsOrder)
      reorder(graph, plan->order);
    llvm::for_each(loop.getBody()->getOps<cta::RingReleaseOp>(), avoidBranch);
    if (plan && gainsByPeeling(loop))
      peelFirst(rewriter, loop);
  }

  target::Rates rates{};
};

} // namespace
