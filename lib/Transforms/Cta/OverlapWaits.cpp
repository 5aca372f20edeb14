// cta-overlap-waits: keep one product of warp groups in flight.
//
// In the loop of a math role a product is awaited before the next one is issued, and then its slot is released. Instead
// wait until the product before it is complete, and release that one's slot; the last product is awaited after the loop:
//
//   for k, (%acc, slot):                        for k, (%acc, slot, previous):
//     wait full[slot]                             wait full[slot]
//     %d = wgmma … %acc                           %d = wgmma … %acc
//     %r = wgmma_wait %d {pending = 0}   ==>      %r = wgmma_wait %d {pending = 1}
//     arrive empty[slot]                          arrive empty[previous] if k is not the first
//                                               wgmma_wait {pending = 0}; arrive empty[previous] if there was any k
//
// So the tensor cores have the next product while the barrier is passed (hopper: CUTLASS and others do the same).
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTAOVERLAPWAITS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct OverlapPlan {
  scf::ForOp loop;
  cta::WgmmaWaitOp wait;
  SmallVector<cta::MbarrierArriveOp> releases;
  unsigned index; ///< Of the accumulator in the loop's arguments.
};

/// One product a loop iteration, whose accumulator nothing else in the loop sees.
std::optional<OverlapPlan> planOverlap(scf::ForOp loop) {
  auto products = loop.getBody()->getOps<cta::WgmmaOp>();
  auto waits = loop.getBody()->getOps<cta::WgmmaWaitOp>();
  if (!llvm::hasSingleElement(products) || !llvm::hasSingleElement(waits))
    return std::nullopt;
  cta::WgmmaOp product = *products.begin();
  OverlapPlan plan{loop, *waits.begin(), {}, 0};
  auto acc = dyn_cast<BlockArgument>(product.getAcc());
  if (plan.wait.getAcc() != product || plan.wait.getPending() != 0 || !acc || acc.getOwner() != loop.getBody() ||
      acc.getArgNumber() == 0 || !acc.hasOneUse() || !plan.wait.getResult().hasOneUse())
    return std::nullopt;
  plan.index = acc.getArgNumber() - 1;
  if (loop.getYieldedValues()[plan.index] != plan.wait.getResult())
    return std::nullopt;
  for (auto release : loop.getBody()->getOps<cta::MbarrierArriveOp>()) {
    // What is released earlier was not read by the product.
    if (plan.wait->isBeforeInBlock(release) && !release.getCondition())
      plan.releases.push_back(release);
  }
  // Its operands must belong to the slots that are released later, or stay as they are.
  return plan.releases.empty() ? std::nullopt : std::optional(plan);
}

void delay(IRRewriter &rewriter, OverlapPlan plan) {
  Location loc = plan.wait.getLoc();
  SmallVector<Value> slots, zeros;
  rewriter.setInsertionPoint(plan.loop);
  for (cta::MbarrierArriveOp release : plan.releases) {
    slots.push_back(release.getSlot());
    zeros.push_back(arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0)));
  }
  // What this iteration reads, the next one releases.
  auto replaced = plan.loop.replaceWithAdditionalYields(
      rewriter, zeros, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return slots; });
  auto loop = cast<scf::ForOp>(replaced->getOperation());
  size_t count = plan.releases.size();

  plan.wait.setPending(1);
  rewriter.setInsertionPoint(plan.wait);
  Value later = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, loop.getInductionVar(),
                                      loop.getLowerBound());
  rewriter.setInsertionPointAfter(loop);
  Value result = loop->getResult(plan.index);
  auto last = cta::WgmmaWaitOp::create(rewriter, loc, result, 0);
  rewriter.replaceAllUsesExcept(result, last, last);
  Value any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                    loop.getUpperBound());
  for (auto [release, previous, final] :
       llvm::zip(plan.releases, loop.getRegionIterArgs().take_back(count), loop->getResults().take_back(count))) {
    release.getSlotMutable().assign(previous);
    release.getConditionMutable().assign(later);
    cta::MbarrierArriveOp::create(rewriter, loc, release.getBarrier(), final, any);
  }
}

struct CtaOverlapWaits : tile::impl::CtaOverlapWaitsBase<CtaOverlapWaits> {
  void runOnOperation() override {
    SmallVector<OverlapPlan> plans;
    getOperation().walk([&](scf::ForOp loop) {
      if (std::optional<OverlapPlan> plan = planOverlap(loop))
        plans.push_back(*plan);
    });
    IRRewriter rewriter(&getContext());
    for (OverlapPlan &plan : plans)
      delay(rewriter, plan);
  }
};

} // namespace
