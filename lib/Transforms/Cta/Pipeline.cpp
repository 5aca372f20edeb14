// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-pipeline: overlap asynchronous copies of later iterations with the computation of earlier ones.
//
// With S = num_stages, each copied tile gets S slots. Loop arguments count the slot to fill and the slot to use.
// PipelinePlan.h decides which operations are prefetched, and their order. ExpandPipeline.h rewrites the loop
// (prologue, loop-carried values, predicates for the last iterations).
//
//   for: copy; commit; wait 0; load; use   ==>   copies of iterations 0 … S-2            (prologue)
//                                                for: wait S-2; copy of iteration i+S-1; commit; load; use
//                                                wait 0
//
// The wait precedes the copy, so that one barrier after it orders both the following reads (the copies have arrived)
// and the copies (all threads have finished reading the slot that is filled next). A loop that only computes one dot in
// K steps (MmaSteps.h) waits before the last step and then loads the first operands of the next iteration: the last
// step hides the barrier and the loads, and the slot whose operands have all been loaded is refilled immediately.
//
//   for: load 1; mma 0; wait S-2; copy of iteration i+S; commit; load 0 of iteration i+1; mma 1
//
// Operands that cp.async cannot copy (2-byte elements at any address, values computed from loaded ones) are loaded into
// registers one iteration ahead. The loads are issued as soon as this iteration's values have left the registers, and
// overlap this iteration's dot.
//
//   for: x = load; y = convert_layout x; mma y   ==>   for: y = convert_layout x; x' = load; mma y; yield x'
//
// The same applies to values that a loop reduces, and to scalars and vectors used alongside a dot whose blocks TMA
// loads:
//
//   for: x = load(i); s = reduce x; store s      ==>   for: x' = load(i + 1); s = reduce x; store s; yield x'
//
// If copied data is multiplied by wgmma, a fence follows the wait. If the loop only computes such wgmmas, they stay in
// flight while the next copies are awaited. Then the wgmmas of the previous iteration are awaited, and a second barrier
// frees their slot, so that copies have the time of S-1 wgmmas to arrive.
//
//   for: wait S-2; fence; wgmma i; await that of i-1; copy of iteration i+S-1; commit
//
// If TMA loads the other operand, copies also come after the wgmma; cta-schedule-loop then keeps the wgmma in flight.
//
// Operands that threads store to shared memory (transposed TMA tiles, realigned rows) are double-buffered, so that the
// previous wgmma stays in flight meanwhile.
//
// A loop with no more iterations than stages gets one slot per iteration, and all of its copies are issued before it.
// Copies that no loop prefetches are issued back to back (EarlyCopies.h) and awaited at their first use
// (AwaitCopies.h). Loads whose values are stored to shared memory are also issued back to back (LateStores.h).
#include "Analysis/Loops/LoopContents.h"
#include "Analysis/Loops/LoopGraph.h"
#include "Analysis/Loops/LoopRange.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/OperandOrders.h"
#include "Target/SharedMemory.h"
#include "Transforms/Cta/AwaitCopies.h"
#include "Transforms/Cta/EarlyCopies.h"
#include "Transforms/Cta/ExpandPipeline.h"
#include "Transforms/Cta/LateStores.h"
#include "Transforms/Cta/PipelinePlan.h"
#include "Transforms/Cta/RunAhead.h"
#include "Transforms/Cta/UnrollLoop.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tile {
#define GEN_PASS_DEF_CTAPIPELINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Loop arguments that count slots, one for each stage that uses a slot index.
struct SlotCounters {
  Value fill, use, lookAhead;
};

/// Adds `count` slot counters, which become the last arguments of the returned loop.
scf::ForOp addSlotCounters(IRRewriter &rewriter, scf::ForOp loop, int64_t slots, unsigned count) {
  rewriter.setInsertionPoint(loop);
  Value zero = emitI32(rewriter, loop.getLoc(), 0);
  auto advance = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> counters) {
    return llvm::map_to_vector(counters,
                               [&](Value slot) -> Value { return cta::NextSlotOp::create(builder, loc, slot, slots); });
  };
  auto replaced = loop.replaceWithAdditionalYields(rewriter, SmallVector<Value>(count, zero),
                                                   /*replaceInitOperandUsesInLoop=*/false, advance);
  return cast<scf::ForOp>(replaced->getOperation());
}

/// Gives every copied buffer its slots, and leaves one wait at the top and one commit after the last copy.
void multiplyBuffers(IRRewriter &rewriter, scf::ForOp loop, const PipelinePlan &plan, const SlotCounters &counters) {
  const std::optional<LookAhead> &ahead = plan.ahead;
  cta::AsyncCopyOp lastCopy;
  bool isFenced = false, isAwaited = false;
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
    bool isWait = isa<cta::AsyncWaitOp>(op), isFence = isAwaited && isa<cta::ProxyFenceOp>(op);
    isAwaited = isWait;
    isFenced |= isFence;
    if (isWait || isFence || isa<cta::AsyncCommitOp>(op)) {
      rewriter.eraseOp(&op);
      continue;
    }
    auto copy = dyn_cast<cta::AsyncCopyOp>(op);
    if (!copy)
      continue;
    lastCopy = copy;
    auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
    rewriter.setInsertionPoint(loop);
    Value buffer = cta::AllocOp::create(rewriter, alloc.getLoc(), alloc.getType().withSlots(plan.slots), IntegerAttr());
    for (OpOperand &use : llvm::make_early_inc_range(alloc->getUses())) {
      Operation *user = use.getOwner();
      rewriter.setInsertionPoint(user);
      Value counter = user == copy                           ? counters.fill
                      : ahead && ahead->loads.contains(user) ? counters.lookAhead
                                                             : counters.use;
      use.set(cta::SlotOp::create(rewriter, copy.getLoc(), alloc.getType(), buffer, counter));
    }
    rewriter.eraseOp(alloc);
  }
  rewriter.setInsertionPointAfter(lastCopy);
  cta::AsyncCommitOp::create(rewriter, loop.getLoc());
  rewriter.setInsertionPointToStart(loop.getBody());
  // The number of iterations whose copies have been issued but need not have arrived.
  cta::AsyncWaitOp::create(rewriter, loop.getLoc(), plan.getArrival() - plan.getCopy() - 1);
  if (isFenced)
    cta::ProxyFenceOp::create(rewriter, loop.getLoc());
}

/// Masks out copies and loads of iterations beyond the end of the loop. All other prefetched operations are harmless:
/// loads from slots read slots that exist.
void predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto maskOut = [&](auto access) {
    rewriter.setInsertionPoint(access);
    access.getMaskMutable().assign(emitMaskIf(rewriter, access.getLoc(), condition, access.getMask(), access.getPtr()));
  };
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    maskOut(copy);
  if (auto load = dyn_cast<LoadOp>(op))
    maskOut(load);
}

/// Duplicates computations that both prefetched loads and other operations need.
void separate(IRRewriter &rewriter, scf::ForOp loop, const DenseSet<Operation *> &loads) {
  DenseSet<Operation *> slice = collectStage(loop, [&](Operation *op) { return loads.contains(op); });
  IRMapping copies;
  SmallVector<Operation *> shared;
  for (Operation &op : *loop.getBody())
    if (slice.contains(&op) && !loads.contains(&op))
      shared.push_back(&op);
  for (Operation *op : shared) {
    // Addresses that an iteration passes to the next one belong to the loads alone.
    auto isOther = [&](OpOperand &use) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      return user && !slice.contains(user) && user != loop.getBody()->getTerminator();
    };
    rewriter.setInsertionPointAfter(op);
    Operation *copy = rewriter.clone(*op, copies);
    for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
      rewriter.replaceUsesWithIf(old, result, [&](OpOperand &use) { return use.getOwner() != copy && isOther(use); });
  }
  for (Operation *op : llvm::reverse(shared))
    if (Operation *copy =
            copies.lookupOrNull(op->getResult(0)) ? copies.lookup(op->getResult(0)).getDefiningOp() : nullptr;
        copy && copy->use_empty())
      rewriter.eraseOp(copy);
}

/// Folds the slots of the prologue, and the initial slots of the loop, to constants.
void foldSlots(IRRewriter &rewriter, scf::ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(*loop->getBlock())) {
    if (&op == loop)
      return;
    SmallVector<Value> folded;
    rewriter.setInsertionPoint(&op);
    if (isa<cta::NextSlotOp>(op) && succeeded(rewriter.tryFold(&op, folded)))
      rewriter.replaceOp(&op, folded);
  }
}

void pipeline(IRRewriter &rewriter, scf::ForOp loop, const PipelinePlan &plan) {
  if (plan.separates)
    separate(rewriter, loop, plan.values);
  nameYields(rewriter, loop);
  if (plan.slots != 0) {
    unsigned count = plan.ahead ? 3 : 2;
    loop = addSlotCounters(rewriter, loop, plan.slots, count);
    ValueRange counters = loop.getRegionIterArgs().take_back(count);
    multiplyBuffers(rewriter, loop, plan, {counters[0], counters[1], counters.back()});
  }

  scf::ForOp pipelined = expandPipeline(rewriter, loop, planOrder(loop, plan), predicate);
  // All copies have been issued; empty groups still count for the waits.
  if (plan.isShort)
    for (auto copy : llvm::make_early_inc_range(pipelined.getBody()->getOps<cta::AsyncCopyOp>()))
      rewriter.eraseOp(copy);
  // The masked-out copies of the last iterations still write zeros, which must complete before the memory is reused.
  rewriter.setInsertionPointAfter(pipelined);
  if (plan.slots != 0) {
    cta::AsyncWaitOp::create(rewriter, pipelined.getLoc(), 0);
    foldSlots(rewriter, pipelined);
  }
  // Copies fill the slot of the previous wgmma, which is complete, so the copies can be reordered without further
  // checks.
  if (LoopGraph graph(pipelined); plan.inFlight && graph.build())
    if (std::optional<MmaSchedule> flight = planInFlight(graph.nodes))
      runAhead(rewriter, graph, *flight);
}

/// Returns the buffers of the loop's body that its threads fill for wgmma.
SmallVector<cta::AllocOp> findFilled(scf::ForOp loop) {
  SmallVector<cta::AllocOp> filled;
  for (auto alloc : loop.getBody()->getOps<cta::AllocOp>()) {
    bool isStored = false, isMultiplied = false;
    for (Operation *user : alloc->getUsers()) {
      isStored |= isa<cta::LocalStoreOp>(user);
      isMultiplied |= isa<cta::WgmmaOp>(user) ||
                      (isa<cta::TransBufferOp>(user) && llvm::any_of(user->getUsers(), llvm::IsaPred<cta::WgmmaOp>));
    }
    if (isStored && isMultiplied)
      filled.push_back(alloc);
  }
  return filled;
}

/// Double-buffers operands that threads store to shared memory (transposed TMA tiles, unaligned rows), if shared memory
/// also has room for two slots of the TMA blocks.
void alternateBuffers(IRRewriter &rewriter, scf::ForOp loop, const target::GpuTarget &target) {
  constexpr unsigned slots = target::transposedBuffers;
  SmallVector<cta::AllocOp> filled = findFilled(loop);
  LoopContents contents = LoopContents::of(loop);
  LoopGraph graph(loop);
  bool isShifted = llvm::any_of(loop.getBody()->getOps<LoadOp>(), [](LoadOp load) { return load.getUnaligned(); });
  if (filled.empty() || !(contents.has(LoopContent::tmaCopy) || isShifted) ||
      !loop.getBody()->getOps<cta::AsyncCopyOp>().empty() || !graph.build() || !planInFlight(graph.nodes))
    return;
  int64_t bytes = target::sharedAlignment;
  loop->getParentOfType<KernelOp>().walk([&](cta::AllocOp alloc) {
    bool isDoubled = llvm::is_contained(filled, alloc) ||
                     llvm::any_of(alloc->getUsers(), [&](Operation *user) { return isa<cta::TmaLoadSyncOp>(user); });
    bytes += (isDoubled ? slots : 1) * alloc.getType().getBytes();
  });
  if (bytes > int64_t(target.maxSharedPerCta))
    return;
  loop = addSlotCounters(rewriter, loop, slots, /*count=*/1);
  Value counter = loop.getRegionIterArgs().back();
  for (cta::AllocOp alloc : filled) {
    rewriter.setInsertionPoint(loop);
    Value buffer = cta::AllocOp::create(rewriter, alloc.getLoc(), alloc.getType().withSlots(slots), IntegerAttr());
    rewriter.setInsertionPoint(alloc);
    rewriter.replaceOpWithNewOp<cta::SlotOp>(alloc, alloc.getType(), buffer, counter);
  }
  // Threads synchronize between a store and its wgmma, and therefore also between that wgmma and the second store after
  // it. An earlier loop may have used the buffers; its last wgmmas are complete once all threads have arrived here.
  rewriter.setInsertionPoint(loop);
  cta::BarrierOp::create(rewriter, loop.getLoc(), /*groups=*/false);
}

struct CtaPipeline : tile::impl::CtaPipelineBase<CtaPipeline> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      std::optional<PipelinePlan> plan = planPipeline(loop, gpu);
      std::optional<APInt> iterations = countIterations(loop);
      if (!plan || (iterations && iterations->isZero()))
        continue;
      Location loc = loop.getLoc();
      if (plan->unroll == 1)
        pipeline(rewriter, loop, *plan);
      if (plan->unroll == 1 || unrollLoop(rewriter, loop, plan->unroll))
        emitRemark(loc) << plan->print();
    }
    eraseNames(rewriter, getOperation());
    loops.clear();
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      alternateBuffers(rewriter, loop, gpu);
    beginCopiesEarly(getOperation(), gpu);
    getOperation().walk([](Block *block) { awaitCopiesLate(*block); });
    beginLoadsEarly(getOperation());
    storeLate(getOperation());
  }
};

} // namespace
