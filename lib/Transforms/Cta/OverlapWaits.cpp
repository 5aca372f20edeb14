// cta-overlap-waits: keep one product of warp groups in flight.
//
// In the loop of a math role a product is awaited before the next one is issued, and then its slot is released. Instead
// wait until the product before it is complete, and release that one's slot; the last product is awaited after the
// loop:
//
//   for k, (%acc, slot):                        if there is any k:
//     wait full[slot]                             the first k: wait full[slot]; %d = wgmma
//     %d = wgmma … %acc                           for the other k, (%acc, slot, previous):
//     %r = wgmma_wait %d {pending = 0}   ==>        wait full[slot]; %d = wgmma … %acc
//     arrive empty[slot]                            %r = wgmma_wait %d {pending = 1}; arrive empty[previous]
//                                                 wgmma_wait {pending = 0}; arrive empty[previous]
//
// So the tensor cores have the next product while the barrier is passed. The first iteration stands apart, so that
// nothing in the loop depends on its number, and so that a product that starts from zero need not set registers to zero
// first.
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
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
  if (!product.getBufferA()) // the next iteration may write registers that the product still reads
    return std::nullopt;
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
    if (!plan.wait->isBeforeInBlock(release) || release.getCondition())
      continue;
    // The next slot is awaited before this one is released: with one slot, for ever.
    if (release.getBarrier().getType().getSlots() < 2)
      return std::nullopt;
    plan.releases.push_back(release);
  }
  return plan.releases.empty() ? std::nullopt : std::optional(plan);
}

class WaitDelay {
public:
  WaitDelay(IRRewriter &rewriter, const OverlapPlan &plan) : rewriter(rewriter), plan(plan), loop(plan.loop) {}

  void run() {
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    Value any =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> unchanged(loop.getInitArgs());
    if (startsFromZero())
      unchanged[plan.index] = emitZeros(loc);
    scf::YieldOp::create(rewriter, loc, unchanged);

    rewriter.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> inits = emitFirst();
    scf::ForOp rest = emitRest(inits);
    SmallVector<Value> results(rest->getResults().take_front(loop.getNumResults()));
    results[plan.index] =
        cta::WgmmaWaitOp::create(rewriter, plan.wait.getLoc(), results[plan.index], 0, plan.wait.getColumnsAttr());
    for (auto [release, slot] : llvm::zip(plan.releases, rest->getResults().drop_front(results.size())))
      cta::MbarrierArriveOp::create(rewriter, loc, release.getBarrier(), slot, /*condition=*/Value());
    scf::YieldOp::create(rewriter, loc, results);
    rewriter.replaceOp(loop, branch.getResults());
  }

private:
  bool startsFromZero() {
    Value acc = loop.getInitArgs()[plan.index];
    return matchPattern(acc, m_AnyZeroFloat()) || matchPattern(acc, m_Zero());
  }

  /// The accumulator where there is no product. LLVM must not know that it is constant: constants that meet other
  /// values behind a branch are set in front of it, for each program in all of a thread's 128 registers.
  Value emitZeros(Location loc) {
    auto type = cast<RankedTensorType>(loop.getInitArgs()[plan.index].getType());
    const char *constraint = type.getElementType().isF32() ? "=f" : "=r";
    auto zero = InlineAsmOp::create(rewriter, loc, TypeRange{type.getElementType()}, "mov.b32 $0, 0;", constraint,
                                    /*pack=*/1, /*isPure=*/false, ValueRange{});
    return SplatOp::create(rewriter, loc, type, zero.getResult(0));
  }

  /// The first iteration, without its wait and releases; what the second one starts with, then the slots to release.
  SmallVector<Value> emitFirst() {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), loop.getLowerBound());
    mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (&op == plan.wait)
        mapping.map(plan.wait.getResult(), mapping.lookup(plan.wait.getAcc()));
      else if (!llvm::is_contained(plan.releases, &op))
        rewriter.clone(op, mapping);
    }
    // Nothing to add to: the accumulator's registers need not be set to zero.
    if (startsFromZero()) {
      auto product = mapping.lookup(plan.wait.getAcc()).getDefiningOp<cta::WgmmaOp>();
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(product);
      Value no = arith::ConstantOp::create(rewriter, product.getLoc(), rewriter.getBoolAttr(false));
      product.getAccumulateMutable().assign(no);
    }
    SmallVector<Value> values;
    for (Value yielded : loop.getYieldedValues())
      values.push_back(mapping.lookupOrDefault(yielded));
    for (cta::MbarrierArriveOp release : plan.releases)
      values.push_back(mapping.lookupOrDefault(release.getSlot()));
    return values;
  }

  /// The other iterations: each waits for the product before its own, and releases that one's slots.
  scf::ForOp emitRest(ArrayRef<Value> inits) {
    Location loc = loop.getLoc();
    Value second = arith::AddIOp::create(rewriter, loc, loop.getLowerBound(), loop.getStep());
    auto rest = scf::ForOp::create(rewriter, loc, second, loop.getUpperBound(), loop.getStep(), inits);
    Operation *yield = loop.getBody()->getTerminator();
    for (cta::MbarrierArriveOp release : plan.releases)
      yield->insertOperands(yield->getNumOperands(), release.getSlot());
    size_t count = loop.getBody()->getNumArguments();
    auto previous = rest.getRegionIterArgs().drop_front(count - 1);
    plan.wait.setPending(1);
    for (auto [release, slot] : llvm::zip(plan.releases, previous))
      release.getSlotMutable().assign(slot);
    rewriter.mergeBlocks(loop.getBody(), rest.getBody(), rest.getBody()->getArguments().take_front(count));
    return rest;
  }

  IRRewriter &rewriter;
  OverlapPlan plan;
  scf::ForOp loop;
};

struct CtaOverlapWaits : tile::impl::CtaOverlapWaitsBase<CtaOverlapWaits> {
  void runOnOperation() override {
    SmallVector<OverlapPlan> plans;
    getOperation().walk([&](scf::ForOp loop) {
      if (std::optional<OverlapPlan> plan = planOverlap(loop))
        plans.push_back(*plan);
    });
    IRRewriter rewriter(&getContext());
    for (const OverlapPlan &plan : plans)
      WaitDelay(rewriter, plan).run();
  }
};

} // namespace
