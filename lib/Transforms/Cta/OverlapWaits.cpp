// cta-overlap-waits: keep one wgmma in flight across iterations.
//
// In the consumer's main loop a wgmma is awaited before the next one is issued, and then its slot is released. Instead
// wait until the wgmma before it is complete, and release that one's slot; the last one is awaited after the loop:
//
//   for k, (%acc, slot):                        if there is any k:
//     wait full[slot]                             for k, (%acc = undefined, slot, previous = -1):
//     %d = wgmma … %acc                             wait full[slot]
//     %r = wgmma_wait %d {pending = 0}   ==>        %d = wgmma … %acc if previous != -1
//     arrive empty[slot]                            %r = wgmma_wait %d {pending = 1}
//                                                   arrive empty[previous] if previous != -1
//                                                 wgmma_wait {pending = 0}; arrive empty[previous]
//
// So the tensor cores have the next wgmma while the barrier is passed. An accumulator that starts from zero is not set
// to zero: the first wgmma does not read it. The first iteration does not stand apart, since ptxas takes 0.01 s for
// each wgmma of 256 columns; LLVM would peel it off if the flag were one, or a comparison of k. (Loops of a few
// constant steps it unrolls.)
#include "Cta/CtaDialect.h"
#include "Transforms/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// One wgmma a loop iteration, whose accumulator nothing else in the loop sees.
std::optional<OverlapPlan> planOverlap(scf::ForOp loop) {
  if (loop.getUnsignedCmp()) // the bounds are compared as signed numbers below
    return std::nullopt;
  auto mmas = loop.getBody()->getOps<cta::WgmmaOp>();
  auto waits = loop.getBody()->getOps<cta::WgmmaWaitOp>();
  if (!llvm::hasSingleElement(mmas) || !llvm::hasSingleElement(waits))
    return std::nullopt;
  cta::WgmmaOp wgmma = *mmas.begin();
  if (!wgmma.getBufferA()) // the next iteration may write registers that the wgmma still reads
    return std::nullopt;
  OverlapPlan plan{loop, *waits.begin(), {}, 0};
  auto acc = dyn_cast<BlockArgument>(wgmma.getAcc());
  if (plan.wait.getAcc() != wgmma || plan.wait.getPending() != 0 || !acc || acc.getOwner() != loop.getBody() ||
      acc.getArgNumber() == 0 || !acc.hasOneUse() || !plan.wait.getResult().hasOneUse())
    return std::nullopt;
  plan.index = acc.getArgNumber() - 1;
  if (loop.getYieldedValues()[plan.index] != plan.wait.getResult())
    return std::nullopt;
  for (auto release : loop.getBody()->getOps<cta::MbarrierArriveOp>()) {
    // What is released earlier was not read by the wgmma.
    if (!plan.wait->isBeforeInBlock(release))
      continue;
    // Nothing conditional is the wgmma's own: each iteration has one.
    if (release.getCondition())
      return std::nullopt;
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
    scf::ForOp delayed = emitLoop();
    SmallVector<Value> results(delayed->getResults().take_front(loop.getNumResults()));
    results[plan.index] =
        cta::WgmmaWaitOp::create(rewriter, plan.wait.getLoc(), results[plan.index], 0, plan.wait.getColumnsAttr());
    for (auto [release, slot] : llvm::zip(plan.releases, delayed->getResults().drop_front(results.size())))
      cta::MbarrierArriveOp::create(rewriter, loc, release.getBarrier(), slot, /*condition=*/Value());
    scf::YieldOp::create(rewriter, loc, results);
    rewriter.replaceOp(loop, branch.getResults());
  }

private:
  bool startsFromZero() {
    Value acc = loop.getInitArgs()[plan.index];
    return matchPattern(acc, m_AnyZeroFloat()) || matchPattern(acc, m_Zero());
  }

  /// The accumulator where there is no wgmma. LLVM must not know that it is constant: constants that meet other
  /// values after a branch are set before it, for each program in all of a thread's 128 registers.
  Value emitZeros(Location loc) {
    auto type = cast<RankedTensorType>(loop.getInitArgs()[plan.index].getType());
    const char *constraint = type.getElementType().isF32() ? "=f" : "=r";
    auto zero = InlineAsmOp::create(rewriter, loc, TypeRange{type.getElementType()}, "mov.b32 $0, 0;", constraint,
                                    /*pack=*/1, /*isPure=*/false, ValueRange{});
    return SplatOp::create(rewriter, loc, type, zero.getResult(0));
  }

  /// The loop in which each iteration waits for the wgmma before its own, and releases that one's slots.
  scf::ForOp emitLoop() {
    Location loc = loop.getLoc();
    Value none = emitI32(rewriter, loc, -1);
    SmallVector<Value> inits(loop.getInitArgs());
    if (startsFromZero())
      inits[plan.index] = cta::UndefinedOp::create(rewriter, loc, inits[plan.index].getType());
    inits.append(plan.releases.size(), none);
    auto delayed = scf::ForOp::create(rewriter, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
    Operation *yield = loop.getBody()->getTerminator();
    for (cta::MbarrierArriveOp release : plan.releases)
      yield->insertOperands(yield->getNumOperands(), release.getSlot());
    size_t count = loop.getBody()->getNumArguments();
    auto previous = delayed.getRegionIterArgs().drop_front(count - 1);

    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(delayed.getBody());
    Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, previous.front(), none);
    plan.wait.setPending(1);
    for (auto [release, slot] : llvm::zip(plan.releases, previous)) {
      release.getSlotMutable().assign(slot);
      release.getConditionMutable().assign(isLater);
    }
    if (startsFromZero())
      plan.wait.getAcc().getDefiningOp<cta::WgmmaOp>().getAccumulateMutable().assign(isLater);
    rewriter.mergeBlocks(loop.getBody(), delayed.getBody(), delayed.getBody()->getArguments().take_front(count));
    return delayed;
  }

  IRRewriter &rewriter;
  OverlapPlan plan;
  scf::ForOp loop;
};

struct CtaOverlapWaits : tile::impl::CtaOverlapWaitsBase<CtaOverlapWaits> {
  void runOnKernel() override {
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
