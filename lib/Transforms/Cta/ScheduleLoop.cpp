// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-schedule-loop: overlap the products of a loop with each other and with what is computed between them.
//
// Where products of warp groups are issued, and where they are awaited:
//
//   only such as add to their own accumulators  they stay in flight until the next ones are issued
//   several, of which one needs another       those that need none run an iteration ahead
//   several otherwise                         issued early, and awaited late within the iteration, if registers
//                                             hold what all of them read and add up
//   outside of roles, others                  awaited where the sum is needed
//
// Analysis/ProductSchedule.h plans it on the loop's graph (Analysis/LoopGraph.h), and RunAhead.h rewrites the loop
// where registers, rings and buffers allow it. How many products are in flight at a wait is not decided here, but
// follows from the order (cta-insert-waits). A remark says what was decided, and how long each resource of a
// multiprocessor is busy in an iteration (Analysis/LoopWork.h).
#include "Analysis/LoopWork.h"
#include "Analysis/RolePlan.h"
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

/// The operations of the body in another order.
void reorder(const LoopGraph &graph, const ProductSchedule &schedule) {
  for (ScheduledNode scheduled : schedule)
    graph.operations[scheduled.node]->moveBefore(graph.body->getTerminator());
}

/// Whether several warp groups of one role run the loop, and tensor cores bind it.
bool keepTensorCoresBusy(scf::ForOp loop, const LoopWork &work) {
  std::optional<cta::Role> role = cta::findRole(loop);
  return role && role->getAttr().getWarps() > target::warpsPerGroup &&
         work.tensorCores > std::max({work.special, work.arithmetic, work.shared, work.copies});
}

/// Whether it gains to issue a late and an early MMA together.
bool hasLongProducts(scf::ForOp loop, const LoopWork &work) {
  return work.tensorCores >= target::tunedOf(cta::getTarget(loop)).longMmaClocks;
}

/// Whether threads have registers for what all products of an iteration read and add up, any of which may be in flight
/// together in another order than the program's, and for what else the loop carries and uses.
bool mayBeReordered(const LoopGraph &graph) {
  llvm::SetVector<Value> live;
  for (Operation *op : graph.operations) {
    for (Value value : getUsedValues(op))
      if (!graph.getNode(value) && !matchPattern(value, m_Constant()) && !value.getDefiningOp<SplatOp>())
        live.insert(value);
    if (auto product = dyn_cast<cta::WgmmaOp>(op)) {
      live.remove(product.getAcc()); // the result has its registers
      live.insert_range(ValueRange{product.getResult(), product.getA()});
    }
  }
  int64_t registers = 0;
  for (Value value : live)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      registers += countRegisters(type);
  return registers <= countThreadRegisters(graph.operations.front());
}

/// What is said of a loop.
std::string describe(const LoopGraph &graph, const LoopPlan &plan) {
  size_t all = 0, early = 0; // products
  bool isLateFirst = false;
  for (ScheduledNode scheduled : plan.order)
    if (graph.nodes[scheduled.node].kind == LoopNodeKind::product) {
      isLateFirst |= all == 0 && scheduled.stage != LoopStage::early;
      ++all;
      early += scheduled.stage == LoopStage::early;
    }
  std::string products = std::to_string(all) + " products ";
  switch (plan.overlap) {
  case ProductOverlap::nextProducts:
    return all == 1 ? "the product stays in flight until the next one is issued"
                    : products + "stay in flight until the next ones are issued";
  case ProductOverlap::nextIteration:
    return std::to_string(early) + " of " + products + "run an iteration ahead" +
           (isLateFirst ? ", issued after the others" : "");
  case ProductOverlap::withinIteration:
    return products + "are issued early and awaited late within each iteration";
  }
  llvm_unreachable("all overlaps are described");
}

/// Whether a product may be awaited after `op` instead of in front of it: nothing there writes what it reads, and
/// nobody waits for anything else.
bool mayPass(cta::AwaitOp await, Operation *op) {
  bool isUser = llvm::is_contained(op->getOperands(), await.getResult());
  bool isHarmless = isa<LoadOp, cta::WgmmaOp, cta::AwaitOp>(op) || isMemoryEffectFree(op);
  return !isUser && isHarmless && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Products are awaited where their results are needed, so that several are issued one after the other.
void awaitLate(KernelOp kernel) {
  SmallVector<cta::AwaitOp> awaits;
  kernel.walk([&](cta::AwaitOp await) {
    auto product = await.getAcc().getDefiningOp<cta::WgmmaOp>();
    // Registers of a left operand may be needed for something else after the product.
    if (product && product.getToken() == await.getToken() && product.getBufferA() &&
        product->getBlock() == await->getBlock())
      awaits.push_back(await);
  });
  for (cta::AwaitOp await : llvm::reverse(awaits)) {
    Operation *next = await->getNextNode();
    while (mayPass(await, next))
      next = next->getNextNode();
    await->moveBefore(next);
  }
}

/// With roles, slots are released after what awaits their readers; a copy by TMA in a loop awaits all threads.
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
      if (std::optional<ProductSchedule> plan = graph.build() ? planWithin(graph.nodes) : std::nullopt)
        reorder(graph, *plan);
      llvm::for_each(body.getOps<cta::RingReleaseOp>(), avoidBranch);
    });
    if (!copiesByTma(getOperation()))
      awaitLate(getOperation());
    takeTurns(rewriter, getOperation());
  }

private:
  void schedule(IRRewriter &rewriter, scf::ForOp loop) {
    LoopWork work = countWork(*loop.getBody(), rates);
    LoopGraph graph(loop);
    std::optional<LoopPlan> plan;
    if (graph.build())
      plan = planLoop(graph.nodes,
                      {.groupsKeepBusy = keepTensorCoresBusy(loop, work), .takesLong = hasLongProducts(loop, work)},
                      [&](const ProductSchedule &order) { return mayRunAhead(graph, order); });
    bool keepsOrder = plan && plan->overlap == ProductOverlap::withinIteration && !mayBeReordered(graph);
    if (plan)
      emitRemark(loop.getLoc()) << (keepsOrder ? "products keep their order: threads have no registers for another"
                                               : describe(graph, *plan))
                                << "; an iteration takes " << work.print();
    if (plan && plan->overlap != ProductOverlap::withinIteration)
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
