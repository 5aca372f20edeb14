// cta-overlap-waits: keep one product of warp groups in flight.
//
// In the loop of a math role a product is awaited before the next one is issued, and then its slot is released. Instead
// wait until the product before it is complete, and release that one's slot; the last product is awaited after the
// loop:
//
//   for k, (%acc, slot):                        if there is any k:
//     wait full[slot]                             for k, (%acc = undefined, slot, previous = -1):
//     %d = wgmma … %acc                             wait full[slot]
//     %r = wgmma_wait %d {pending = 0}   ==>        %d = wgmma … %acc if previous != -1
//     arrive empty[slot]                            %r = wgmma_wait %d {pending = 1}
//                                                   arrive empty[previous] if previous != -1
//                                                 wgmma_wait {pending = 0}; arrive empty[previous]
//
// So the tensor cores have the next product while the barrier is passed. DelayWait.h has what becomes of the sum.
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
  SmallVector<cta::MbarrierArriveOp> releases;
};

/// Whether threads write shared memory, other than by TMA, that a product of the loop reads.
bool writesOperands(scf::ForOp loop, cta::WgmmaOp product) {
  DenseSet<Operation *> operands{getAlloc(product.getBufferA()), getAlloc(product.getB())};
  return loop
      .walk([&](Operation *op) {
        bool writes = llvm::any_of(getSharedAccesses(op), [&](const SharedAccess &access) {
          return access.isWrite && operands.contains(getAlloc(access.buffer));
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
  for (auto release : loop.getBody()->getOps<cta::MbarrierArriveOp>()) {
    // What is released earlier was not read by the product.
    if (!product->wait->isBeforeInBlock(release))
      continue;
    // Nothing conditional is the product's own: each iteration has one.
    if (release.getCondition())
      return std::nullopt;
    // The next slot is awaited before this one is released: with one slot, for ever.
    if (release.getBarrier().getType().getSlots() < 2)
      return std::nullopt;
    plan.releases.push_back(release);
  }
  return plan.releases.empty() ? std::nullopt : std::optional(plan);
}

void delay(IRRewriter &rewriter, OverlapPlan plan) {
  Location loc = plan.loop.getLoc();
  SmallVector<Value> slots;
  for (cta::MbarrierArriveOp release : plan.releases)
    slots.push_back(release.getSlot());
  DelayedLoop delayed = delayWait(rewriter, plan.loop, plan.product, slots);
  for (auto [release, previous, last] : llvm::zip_equal(plan.releases, delayed.previous, delayed.last)) {
    release.getSlotMutable().assign(previous);
    release.getConditionMutable().assign(delayed.isLater);
    cta::MbarrierArriveOp::create(rewriter, loc, release.getBarrier(), last, /*condition=*/Value());
  }
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
  }
};

} // namespace
