// cta-pipeline: overlap asynchronous copies of later iterations with the computation of earlier ones.
//
// With S = num_stages, each copied tile gets S slots; copies run S - 1 iterations ahead of the computation. Two loop
// arguments count the slot to fill and the slot to use. The mechanical part (prologue, values that cross iterations,
// predicates for the last iterations) is upstream's scf pipeliner; this pass decides stages and order.
//
//   for: copy; commit; wait 0; load; mma   ==>   copies of iterations 0 … S-2            (prologue)
//                                                for: wait S-2; copy of iteration i+S-1; commit; load; mma
//                                                wait 0
//
// The wait comes first, so that one barrier after it orders both this iteration's reads (copies have arrived) and this
// iteration's copies (all threads have finished reading the slot that is filled next).
#include "Analysis/FindTarget.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAPIPELINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The operations of the body that copies depend on, through loop arguments too, and the copies themselves.
DenseSet<Operation *> collectCopyStage(scf::ForOp loop) {
  DenseSet<Operation *> stage;
  SmallVector<Operation *> worklist;
  auto add = [&](Operation *op) {
    Operation *inBody = op ? loop.getBody()->findAncestorOpInBlock(*op) : nullptr;
    if (inBody && stage.insert(inBody).second)
      worklist.push_back(inBody);
  };
  for (Operation &op : *loop.getBody())
    if (isa<cta::AsyncCopyOp, cta::AsyncCommitOp>(op))
      add(&op);
  while (!worklist.empty()) {
    SetVector<Value> operands;
    worklist.pop_back_val()->walk([&](Operation *op) { operands.insert_range(op->getOperands()); });
    for (Value operand : operands) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0)
        operand = loop.getYieldedValues()[argument.getArgNumber() - 1];
      add(operand.getDefiningOp());
    }
  }
  return stage;
}

/// Adds the two slot counters; returns the new loop, whose last two arguments they are.
scf::ForOp addSlotCounters(IRRewriter &rewriter, scf::ForOp loop, int64_t slots) {
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(value));
  };
  Value zero = constant(0), one = constant(1), last = constant(slots - 1);
  auto advance = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> counters) {
    SmallVector<Value> next;
    for (Value slot : counters) {
      Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, slot, last);
      Value plusOne = arith::AddIOp::create(builder, loc, slot, one);
      next.push_back(arith::SelectOp::create(builder, loc, wraps, zero, plusOne));
    }
    return next;
  };
  auto replaced =
      loop.replaceWithAdditionalYields(rewriter, {zero, zero}, /*replaceInitOperandUsesInLoop=*/false, advance);
  return cast<scf::ForOp>(replaced->getOperation());
}

/// Gives every copied buffer its slots, and leaves one wait at the top and one commit after the last copy.
void multiplyBuffers(IRRewriter &rewriter, scf::ForOp loop, int64_t slots) {
  ValueRange counters = loop.getRegionIterArgs().take_back(2);
  cta::AsyncCopyOp lastCopy;
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
    if (isa<cta::AsyncCommitOp, cta::AsyncWaitOp>(op))
      rewriter.eraseOp(&op);
    auto copy = dyn_cast<cta::AsyncCopyOp>(op);
    if (!copy)
      continue;
    lastCopy = copy;
    auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
    rewriter.setInsertionPoint(loop);
    Value buffer = cta::AllocOp::create(rewriter, alloc.getLoc(), alloc.getType().withSlots(slots), IntegerAttr());
    for (OpOperand &use : llvm::make_early_inc_range(alloc->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value counter = use.getOwner() == copy ? counters[0] : counters[1];
      use.set(cta::SlotOp::create(rewriter, copy.getLoc(), alloc.getType(), buffer, counter));
    }
    rewriter.eraseOp(alloc);
  }
  rewriter.setInsertionPointAfter(lastCopy);
  cta::AsyncCommitOp::create(rewriter, loop.getLoc());
  rewriter.setInsertionPointToStart(loop.getBody());
  cta::AsyncWaitOp::create(rewriter, loop.getLoc(), slots - 2);
}

/// Copies of iterations that the loop does not have are masked out; everything else of their stage has no effect.
Operation *predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto copy = dyn_cast<cta::AsyncCopyOp>(op);
  if (!copy)
    return op;
  rewriter.setInsertionPoint(copy);
  Type maskType = getMaskType(copy.getPtr().getType());
  Value mask = SplatOp::create(rewriter, copy.getLoc(), maskType, condition);
  if (copy.getMask())
    mask = arith::AndIOp::create(rewriter, copy.getLoc(), mask, copy.getMask());
  copy.getMaskMutable().assign(mask);
  return copy;
}

/// A loop can be pipelined when the copies stand in its body, on buffers of their own, and do not depend on what the
/// computation produces or writes.
bool canPipeline(scf::ForOp loop) {
  bool hasCopies = false;
  for (Operation &op : *loop.getBody())
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op)) {
      auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
      if (!alloc || alloc->getBlock() != loop.getBody())
        return false;
      hasCopies = true;
    }
  if (!hasCopies)
    return false;
  for (Operation *op : collectCopyStage(loop))
    if (!isa<cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AllocOp>(op) && !isMemoryEffectFree(op))
      return false;
  // A store in the loop may write what a later iteration copies.
  return !loop.walk([](Operation *op) {
                return isa<StoreOp, DescStoreOp, PrintOp, AssertOp>(op) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
              })
              .wasInterrupted();
}

LogicalResult pipeline(IRRewriter &rewriter, scf::ForOp loop, int64_t slots) {
  loop = addSlotCounters(rewriter, loop, slots);
  multiplyBuffers(rewriter, loop, slots);
  DenseSet<Operation *> copyStage = collectCopyStage(loop);

  scf::PipeliningOption options;
  options.supportDynamicLoops = true;
  options.peelEpilogue = false;
  options.predicateFn = predicate;
  options.getScheduleFn = [&](scf::ForOp loop, std::vector<std::pair<Operation *, unsigned>> &schedule) {
    unsigned useStage = slots - 1;
    for (Operation &op : loop.getBody()->without_terminator())
      if (isa<cta::AsyncWaitOp>(op))
        schedule.emplace_back(&op, useStage);
    for (Operation &op : loop.getBody()->without_terminator())
      if (copyStage.contains(&op))
        schedule.emplace_back(&op, 0);
    for (Operation &op : loop.getBody()->without_terminator())
      if (!copyStage.contains(&op) && !isa<cta::AsyncWaitOp>(op))
        schedule.emplace_back(&op, useStage);
  };
  rewriter.setInsertionPoint(loop);
  FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop, options);
  if (failed(pipelined))
    return failure();
  // The masked-out copies of the last iterations still write zeros: they must be over before the memory is reused.
  rewriter.setInsertionPointAfter(*pipelined);
  cta::AsyncWaitOp::create(rewriter, pipelined->getLoc(), 0);
  return success();
}

/// Slots that the kernel asks for, or fewer if the shared memory of a CTA does not hold them.
int64_t planSlots(scf::ForOp loop, int64_t wanted, const target::GpuTarget &target) {
  int64_t bytes = 0;
  for (auto copy : loop.getBody()->getOps<cta::AsyncCopyOp>())
    bytes += copy.getBuffer().getType().getBytes();
  return std::min<int64_t>(wanted, target.maxSharedPerCta / bytes);
}

struct CtaPipeline : tile::impl::CtaPipelineBase<CtaPipeline> {
  using CtaPipelineBase::CtaPipelineBase;

  void runOnOperation() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (canPipeline(loop))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      int64_t slots = planSlots(loop, getOperation().getNumStages(), *gpu);
      if (slots < 2)
        continue;
      if (failed(pipeline(rewriter, loop, slots))) {
        loop.emitError() << "cannot be pipelined with " << slots << " stages";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
