// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-schedule-loop: overlap the products of a loop with each other and with what is computed between them.
//
// Where products of warp groups are issued, and where they are awaited:
//
//   one in a loop, whose slot is released     it stays in flight until the next one is issued (KeepInFlight.h)
//   several, of which one needs another       in the order that Analysis/ProductSchedule.h plans: those that need none
//                                             run an iteration ahead (RunAhead.h), where registers and rings allow it
//   several otherwise                         issued early, and awaited late within the iteration
//   outside of roles, others                  awaited where the sum is needed
//
// How many products are in flight at a wait is not decided here, but follows from the order (cta-insert-waits). A
// remark says what was decided, and how long each resource of a multiprocessor is busy in an iteration
// (Analysis/LoopWork.h).
#include "Analysis/FindTarget.h"
#include "Analysis/LoopWork.h"
#include "Analysis/SharedAccesses.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Cta/KeepInFlight.h"
#include "Transforms/Cta/PeelLoop.h"
#include "Transforms/Cta/RunAhead.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_CTASCHEDULELOOP
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct FlightPlan {
  LoopProduct product;
  SmallVector<cta::RingReleaseOp> releases;
};

/// Whether threads write shared memory, other than by TMA, that a product of the loop reads.
bool writesOperands(scf::ForOp loop, cta::WgmmaOp product) {
  DenseSet<Operation *> operands{getMemory(product.getBufferA()), getMemory(product.getB())};
  return loop
      .walk([&](Operation *op) {
        bool writes = llvm::any_of(getSharedAccesses(op), [&](const SharedAccess &access) {
          return access.isWrite && operands.contains(getMemory(access.buffer));
        });
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// One product a loop iteration, whose accumulator nothing else in the loop sees.
std::optional<FlightPlan> planFlight(scf::ForOp loop) {
  std::optional<LoopProduct> product = LoopProduct::of(loop);
  // What threads write in the next iteration must have been read.
  if (!product || writesOperands(loop, product->product))
    return std::nullopt;
  FlightPlan plan{*product, {}};
  for (auto release : loop.getBody()->getOps<cta::RingReleaseOp>()) {
    // The product does not read that slot.
    if (!llvm::is_contained(release.getTokens(), product->product.getToken()))
      continue;
    // Nothing conditional is the wgmma's own: each iteration has one.
    if (release.getCondition())
      return std::nullopt;
    // The next slot is awaited before this one is released: with one slot, for ever.
    if (release.getRing().getType().getSlots() < 2)
      return std::nullopt;
    plan.releases.push_back(release);
  }
  return plan.releases.empty() ? std::nullopt : std::optional(plan);
}

/// The product of the iteration before is complete where its slot is released, and the last one behind the loop.
void keepInFlight(IRRewriter &rewriter, scf::ForOp loop, FlightPlan plan) {
  Location loc = loop.getLoc();
  SmallVector<Value> slots;
  for (cta::RingReleaseOp release : plan.releases)
    slots.push_back(release.getSlot());
  LoopInFlight flight = keepInFlight(rewriter, loop, plan.product, slots);
  for (auto [release, previous, last] : llvm::zip_equal(plan.releases, flight.previous, flight.last)) {
    release->moveAfter(plan.product.await); // whatever else reads this iteration's slot
    release.getSlotMutable().assign(previous);
    release.getConditionMutable().assign(flight.isLater);
    release.getTokensMutable().assign(flight.previousToken);
    cta::RingReleaseOp::create(rewriter, loc, release.getRing(), last, /*condition=*/Value(), flight.lastToken);
  }
  rewriter.replaceOp(plan.product.await, plan.product.await.getAcc());
}

/// The operations of the body in another order.
void reorder(const LoopGraph &graph, const ProductSchedule &schedule) {
  for (ScheduledNode scheduled : schedule)
    graph.operations[scheduled.node]->moveBefore(graph.body->getTerminator());
}

/// Whether the products of an iteration take long enough for a late and an early one to be issued together: what waits
/// for both has less to overlap with. Attention with heads of 128 takes 0.91 of the time with 128 keys an iteration,
/// whose products take so many clocks of the tensor cores, and 1.25 times as long with 64.
bool hasLongProducts(const LoopWork &work) {
  constexpr double least = 2048;
  return work.tensorCores >= least;
}

/// The products of the loop, and how many of them run an iteration ahead.
struct ProductCount {
  size_t all = 0, early = 0;

  ProductCount(const LoopGraph &graph, const ProductSchedule &schedule) {
    for (ScheduledNode scheduled : schedule)
      if (graph.nodes[scheduled.node].kind == LoopNodeKind::product) {
        ++all;
        early += scheduled.stage == LoopStage::early;
      }
  }
};

/// Whether a product may be awaited behind `op` instead of in front of it: nothing there writes what it reads, and
/// nobody waits for anything else.
bool mayPass(cta::AwaitOp await, Operation *op) {
  bool isUser = llvm::is_contained(op->getOperands(), await.getResult());
  bool isHarmless = isa<LoadOp, cta::WgmmaOp, cta::AwaitOp>(op) || isMemoryEffectFree(op);
  return !isUser && isHarmless && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Products are awaited where their sums are needed, so that several are issued one after the other.
void awaitLate(KernelOp kernel) {
  SmallVector<cta::AwaitOp> awaits;
  kernel.walk([&](cta::AwaitOp await) {
    auto product = await.getAcc().getDefiningOp<cta::WgmmaOp>();
    // Registers of a left operand may be needed for something else behind the product.
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

/// With roles, slots are released behind what awaits their readers; a copy by TMA in a loop awaits all threads.
bool copiesByTma(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<cta::WarpRolesOp, cta::TmaLoadSyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct CtaScheduleLoop : tile::impl::CtaScheduleLoopBase<CtaScheduleLoop> {
  using CtaScheduleLoopBase::CtaScheduleLoopBase;

  void runOnKernel() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    rates = target::ratesOf(*gpu);
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
      if (graph.build())
        reorder(graph, planWithin(graph.nodes));
      llvm::for_each(body.getOps<cta::RingReleaseOp>(), avoidBranch);
    });
    if (!copiesByTma(getOperation()))
      awaitLate(getOperation());
  }

private:
  void schedule(IRRewriter &rewriter, scf::ForOp loop) {
    Location loc = loop.getLoc();
    LoopWork work = countWork(*loop.getBody(), rates);
    if (std::optional<FlightPlan> plan = planFlight(loop)) {
      keepInFlight(rewriter, loop, *plan);
      return report(loc, "the product stays in flight until the next one is issued", work);
    }
    LoopGraph graph(loop);
    if (!graph.build()) {
      llvm::for_each(loop.getBody()->getOps<cta::RingReleaseOp>(), avoidBranch);
      return;
    }
    auto tryAhead = [&](std::optional<ProductSchedule> plan, StringRef how) {
      if (!runAhead(rewriter, graph, plan))
        return false;
      ProductCount products(graph, *plan);
      report(loc, Twine(products.early) + " of " + Twine(products.all) + " products run an iteration ahead" + how,
             work);
      return true;
    };
    if (tryAhead(planAhead(graph.nodes), "") ||
        (hasLongProducts(work) && tryAhead(planTogether(graph.nodes), ", issued together with the others")))
      return;
    ProductSchedule within = planWithin(graph.nodes);
    size_t products = ProductCount(graph, within).all;
    reorder(graph, within);
    llvm::for_each(loop.getBody()->getOps<cta::RingReleaseOp>(), avoidBranch);
    if (gainsByPeeling(loop))
      peelFirst(rewriter, loop);
    report(loc, Twine(products) + " products are issued early and awaited late within each iteration", work);
  }

  static void report(Location loc, const Twine &order, const LoopWork &work) {
    emitRemark(loc) << order << "; an iteration takes " << work.print();
  }

  target::Rates rates{};
};

} // namespace
