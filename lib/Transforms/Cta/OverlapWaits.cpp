// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-overlap-waits: keep one wgmma in flight across iterations.
//
// In the consumer's main loop a wgmma is awaited before the next one is issued, and then its slot is released. Instead
// wait until the wgmma before it is complete, and release that one's slot; the last one is awaited after the loop:
//
//   for k, (%acc):                              if there is any k:
//     %s = ring_wait %r                           for k, (%acc = undefined, %previous = none):
//     %d = wgmma … %acc                             %s = ring_wait %r
//     %e = wgmma_wait %d {pending = 0}   ==>        %d = wgmma … %acc if %previous holds a slot
//     ring_release %r[%s]                           %e = wgmma_wait %d {pending = 1}
//                                                   ring_release %r[%previous] if it holds a slot
//                                                 wgmma_wait {pending = 0}; ring_release %r[%last]
//
// So the tensor cores have the next product while the slot is awaited. DelayWait.h has what becomes of the sum. Other
// products, if threads bring the operands, are awaited where their sums are needed, behind products that come before.
#include "Analysis/SharedAccesses.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Cta/DelayWait.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_CTAOVERLAPWAITS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct OverlapPlan {
  scf::ForOp loop;
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
std::optional<OverlapPlan> planOverlap(scf::ForOp loop) {
  std::optional<LoopProduct> product = LoopProduct::of(loop);
  // What threads write in the next iteration must have been read.
  if (!product || writesOperands(loop, product->product))
    return std::nullopt;
  OverlapPlan plan{loop, *product, {}};
  for (auto release : loop.getBody()->getOps<cta::RingReleaseOp>()) {
    // What is released earlier was not read by the product.
    if (!product->wait->isBeforeInBlock(release))
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

void delay(IRRewriter &rewriter, OverlapPlan plan) {
  Location loc = plan.loop.getLoc();
  SmallVector<Value> slots;
  for (cta::RingReleaseOp release : plan.releases)
    slots.push_back(release.getSlot());
  DelayedLoop delayed = delayWait(rewriter, plan.loop, plan.product, slots);
  for (auto [release, previous, last] : llvm::zip_equal(plan.releases, delayed.previous, delayed.last)) {
    release.getSlotMutable().assign(previous);
    release.getConditionMutable().assign(delayed.isLater);
    release->moveAfter(plan.product.wait); // whatever else reads this iteration's slot
    cta::RingReleaseOp::create(rewriter, loc, release.getRing(), last, /*condition=*/Value());
  }
}

/// Whether a product may be awaited behind `op` instead of in front of it: nothing there writes what it reads, and
/// nobody waits for anything else.
bool mayPass(cta::WgmmaWaitOp wait, Operation *op) {
  bool isUser = llvm::is_contained(op->getOperands(), wait.getResult());
  bool isHarmless = isa<LoadOp, cta::WgmmaOp, cta::WgmmaWaitOp>(op) || isMemoryEffectFree(op);
  return !isUser && isHarmless && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Moves waits down to where the sums are needed, so that several products are issued one after the other. Products
/// complete in order, so that those behind need not be complete.
void sinkWaits(KernelOp kernel) {
  SmallVector<cta::WgmmaWaitOp> waits;
  kernel.walk([&](cta::WgmmaWaitOp wait) {
    auto product = wait.getAcc().getDefiningOp<cta::WgmmaOp>();
    // Registers of a left operand may be needed for something else behind the product.
    if (product && product.getBufferA() && product->getBlock() == wait->getBlock() && wait.getPending() == 0)
      waits.push_back(wait);
  });
  for (cta::WgmmaWaitOp wait : llvm::reverse(waits)) {
    Operation *next = wait->getNextNode();
    while (mayPass(wait, next))
      next = next->getNextNode();
    wait->moveBefore(next);
  }
  for (cta::WgmmaWaitOp wait : waits) {
    unsigned behind = 0;
    for (Operation *op = wait.getAcc().getDefiningOp()->getNextNode(); op != wait; op = op->getNextNode())
      behind += isa<cta::WgmmaOp>(op);
    wait.setPending(behind);
  }
}

/// With roles, slots are released behind waits; a copy by TMA in a loop awaits all threads.
bool copiesByTma(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<cta::WarpRolesOp, cta::TmaLoadSyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct CtaOverlapWaits : tile::impl::CtaOverlapWaitsBase<CtaOverlapWaits> {
  void runOnKernel() override {
    SmallVector<OverlapPlan> plans;
    getOperation().walk([&](scf::ForOp loop) {
      if (std::optional<OverlapPlan> plan = planOverlap(loop))
        plans.push_back(*plan);
    });
    IRRewriter rewriter(&getContext());
    for (const OverlapPlan &plan : plans)
      delay(rewriter, plan);
    if (!copiesByTma(getOperation()))
      sinkWaits(getOperation());
  }
};

} // namespace
