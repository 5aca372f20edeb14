// cta-pipeline: overlap asynchronous copies of later iterations with the computation of earlier ones.
//
// With S = num_stages, each copied tile gets S slots. Loop arguments count the slot to fill and the slot to use. The
// mechanical part (prologue, values that cross iterations, predicates for the last iterations) is upstream's scf
// pipeliner; this pass decides stages and order.
//
//   for: copy; commit; wait 0; load; use   ==>   copies of iterations 0 … S-2            (prologue)
//                                                for: wait S-2; copy of iteration i+S-1; commit; load; use
//                                                wait 0
//
// The wait comes before the copy, so that one barrier after it orders both the reads that follow (copies have arrived)
// and the copies (all threads have finished reading the slot that is filled next). A loop that only computes a product
// in steps (cta-split-products) waits before the last of them and then loads the first operands of the next iteration:
// the last step covers the barrier and the loads, and the slot whose operands are all loaded is filled again at once.
//
//   for: load 1; mma 0; wait S-2; copy of iteration i+S; commit; load 0 of iteration i+1; mma 1
#include "Analysis/FindTarget.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace tile {
#define GEN_PASS_DEF_CTAPIPELINE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

bool isCopy(Operation *op) {
  return isa<cta::AsyncCopyOp, cta::AsyncCommitOp>(op);
}

/// What a loop that only computes a product in steps does an iteration ahead, besides copies.
struct LookAhead {
  DenseSet<Operation *> loads; ///< Of the operands of the first step.
  Operation *lastStep;
};

/// None unless the loads of the body are those of copied operands of a chain of products.
std::optional<LookAhead> planLookAhead(scf::ForOp loop) {
  SmallVector<cta::MmaSyncOp> steps(loop.getBody()->getOps<cta::MmaSyncOp>());
  DenseSet<Value> copied;
  for (auto copy : loop.getBody()->getOps<cta::AsyncCopyOp>())
    copied.insert(copy.getBuffer());
  DenseSet<Operation *> loads;
  for (size_t index = 0; index < steps.size(); ++index) {
    if (index > 0 && steps[index].getAcc() != steps[index - 1].getResult())
      return std::nullopt;
    for (Value operand : {steps[index].getA(), steps[index].getB()}) {
      auto load = operand.getDefiningOp<cta::LocalLoadOp>();
      if (!load || load->getBlock() != loop.getBody() || !copied.contains(load.getBuffer()))
        return std::nullopt;
      loads.insert(load);
    }
  }
  if (steps.size() < 2 || loads.size() != 2 * steps.size() ||
      llvm::range_size(loop.getBody()->getOps<cta::LocalLoadOp>()) != loads.size())
    return std::nullopt;
  return LookAhead{{steps.front().getA().getDefiningOp(), steps.front().getB().getDefiningOp()}, steps.back()};
}

/// Loop arguments that count slots: one for each stage that names a slot.
struct SlotCounters {
  Value fill, use, lookAhead;
};

/// Adds `count` slot counters; returns the new loop, whose last arguments they are.
scf::ForOp addSlotCounters(IRRewriter &rewriter, scf::ForOp loop, int64_t slots, unsigned count) {
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
  auto replaced = loop.replaceWithAdditionalYields(rewriter, SmallVector<Value>(count, zero),
                                                   /*replaceInitOperandUsesInLoop=*/false, advance);
  return cast<scf::ForOp>(replaced->getOperation());
}

/// Gives every copied buffer its slots, and leaves one wait at the top and one commit after the last copy.
void multiplyBuffers(IRRewriter &rewriter, scf::ForOp loop, int64_t slots, const SlotCounters &counters,
                     const std::optional<LookAhead> &ahead) {
  cta::AsyncCopyOp lastCopy;
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
    if (isa<cta::AsyncCommitOp, cta::AsyncWaitOp>(op)) {
      rewriter.eraseOp(&op);
      continue;
    }
    auto copy = dyn_cast<cta::AsyncCopyOp>(op);
    if (!copy)
      continue;
    lastCopy = copy;
    auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
    rewriter.setInsertionPoint(loop);
    Value buffer = cta::AllocOp::create(rewriter, alloc.getLoc(), alloc.getType().withSlots(slots), IntegerAttr());
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
  cta::AsyncWaitOp::create(rewriter, loop.getLoc(), slots - 2);
}

/// Copies of iterations that the loop does not have are masked out; everything else that runs ahead does no harm: loads
/// read slots that exist.
Operation *predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto copy = dyn_cast<cta::AsyncCopyOp>(op);
  if (!copy)
    return op;
  rewriter.setInsertionPoint(copy);
  copy.getMaskMutable().assign(emitMaskIf(rewriter, copy.getLoc(), condition, copy.getMask(), copy.getPtr()));
  return copy;
}

/// A loop can be pipelined when the copies stand in its body, on buffers of their own, and do not depend on what the
/// computation produces or writes.
bool canPipeline(scf::ForOp loop) {
  bool hasCopies = false;
  for (Operation &op : *loop.getBody())
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op)) {
      auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
      if (!alloc || alloc->getBlock() != loop.getBody() ||
          llvm::count_if(alloc->getUsers(), llvm::IsaPred<cta::AsyncCopyOp>) != 1)
        return false;
      hasCopies = true;
    }
  if (!hasCopies)
    return false;
  for (Operation *op : collectStage(loop, isCopy))
    if (!isa<cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AllocOp>(op) && !isMemoryEffectFree(op))
      return false;
  // A store in the loop may write what a later iteration copies.
  return !loop.walk([](Operation *op) {
                return writesGlobalMemory(op) || isa<PrintOp, AssertOp>(op) ? WalkResult::interrupt()
                                                                            : WalkResult::advance();
              })
              .wasInterrupted();
}

LoopSchedule planSchedule(scf::ForOp loop, int64_t slots, const std::optional<LookAhead> &ahead) {
  DenseSet<Operation *> copies = collectStage(loop, isCopy), loads;
  if (ahead)
    loads = collectStage(loop, [&](Operation *op) { return ahead->loads.contains(op); });
  // Between the copies of an iteration and their arrival lie slots - 1 iterations.
  unsigned arrival = slots - 1, use = ahead ? slots : slots - 1;
  auto isWait = [](Operation *op) { return isa<cta::AsyncWaitOp>(op); };
  auto isAhead = [&](Operation *op) { return loads.contains(op) && !copies.contains(op); };

  LoopSchedule schedule;
  auto add = [&](unsigned stage, llvm::function_ref<bool(Operation *)> belongs) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (belongs(&op))
        schedule.emplace_back(&op, stage);
  };
  Operation *first = ahead ? ahead->lastStep : &loop.getBody()->front();
  auto isUse = [&](Operation *op) { return !isWait(op) && !copies.contains(op) && !isAhead(op); };
  add(use, [&](Operation *op) { return isUse(op) && op->isBeforeInBlock(first); });
  add(arrival, isWait);
  add(0, [&](Operation *op) { return copies.contains(op); });
  add(arrival, isAhead);
  add(use, [&](Operation *op) { return isUse(op) && !op->isBeforeInBlock(first); });
  return schedule;
}

LogicalResult pipeline(IRRewriter &rewriter, scf::ForOp loop, int64_t slots) {
  nameYields(rewriter, loop);
  std::optional<LookAhead> ahead = planLookAhead(loop);
  unsigned count = ahead ? 3 : 2;
  loop = addSlotCounters(rewriter, loop, slots, count);
  ValueRange counters = loop.getRegionIterArgs().take_back(count);
  multiplyBuffers(rewriter, loop, slots, {counters[0], counters[1], counters.back()}, ahead);

  scf::PipeliningOption options;
  options.supportDynamicLoops = true;
  options.peelEpilogue = false;
  options.predicateFn = predicate;
  options.getScheduleFn = [&](scf::ForOp loop, LoopSchedule &schedule) {
    schedule = planSchedule(loop, slots, ahead);
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

/// Slots that the kernel asks for, or fewer if the shared memory of a CTA does not hold them beside what else the loop
/// uses: operands of scalar products are copied once more.
int64_t planSlots(scf::ForOp loop, int64_t wanted, const target::GpuTarget &target) {
  DenseSet<Operation *> rings;
  int64_t bytes = 0, others = 0;
  for (auto copy : loop.getBody()->getOps<cta::AsyncCopyOp>()) {
    rings.insert(getAlloc(copy.getBuffer()));
    bytes += copy.getBuffer().getType().getBytes();
  }
  loop->getParentOfType<KernelOp>().walk([&](cta::AllocOp alloc) {
    bool isUsed = llvm::any_of(alloc->getUsers(), [&](Operation *user) { return loop->isProperAncestor(user); });
    if (isUsed && !rings.contains(alloc))
      others += alloc.getType().getBytes();
  });
  return std::min<int64_t>(wanted, std::max<int64_t>(0, target.maxSharedPerCta - others) / bytes);
}

struct CtaPipeline : tile::impl::CtaPipelineBase<CtaPipeline> {
  using CtaPipelineBase::CtaPipelineBase;

  void runOnKernel() override {
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
      Location loc = loop.getLoc();
      if (failed(pipeline(rewriter, loop, slots))) {
        emitError(loc) << "this loop cannot be pipelined with " << slots
                       << " stages; --num-stages=1 leaves it as it is";
        return signalPassFailure();
      }
    }
    eraseNames(rewriter, getOperation());
  }
};

} // namespace
