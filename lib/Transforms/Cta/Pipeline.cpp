// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
//
// What cannot be copied (elements of 2 bytes at any address, values that are computed from what is loaded) is loaded
// into registers an iteration ahead, as soon as this one's values have left them, and arrives under its product.
//
//   for: x = load; y = convert_layout x; mma y   ==>   for: y = convert_layout x; x' = load; mma y; yield x'
//
// Where warp groups multiply what is copied, a fence follows the wait. If the loop only computes one such product, it
// stays in flight while the next copies are awaited: behind it the product before is awaited, and a second barrier
// makes the slot of that one free. So copies have S-1 products' time to arrive.
//
//   for: wait S-2; fence; wgmma i; await that of i-1; copy of iteration i+S-1; commit
//
// A loop of no more iterations than stages gets a slot for each, and all of its copies begin before it.
#include "Analysis/FindTarget.h"
#include "Analysis/LoopOptions.h"
#include "Analysis/PointerBases.h"
#include "Analysis/RolePlan.h"
#include "Analysis/SharedAccesses.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Cta/RunAhead.h"
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

/// The plan of a loop whose products of warp groups stay in flight.
std::optional<ProductSchedule> planFlight(LoopGraph &graph) {
  return graph.build() ? planInFlight(graph.nodes) : std::nullopt;
}

/// Whether products of warp groups can stay in flight while the next copies arrive: they multiply what is copied, and
/// nothing else writes that.
bool staysInFlight(scf::ForOp loop) {
  LoopGraph graph(loop);
  if (!planFlight(graph))
    return false;
  DenseSet<Operation *> operands;
  for (auto product : loop.getBody()->getOps<cta::WgmmaOp>())
    operands.insert_range(ArrayRef{getAlloc(product.getBufferA()), getAlloc(product.getB())});
  bool isCopied = false, isWritten = false;
  loop.walk([&](Operation *op) {
    isWritten |= isa<cta::TmaLoadSyncOp>(op); // into one slot
    for (const SharedAccess &access : getSharedAccesses(op))
      if (access.isWrite && operands.contains(getAlloc(access.buffer)))
        (isa<cta::AsyncCopyOp>(op) ? isCopied : isWritten) = true;
  });
  return isCopied && !isWritten;
}

bool isProduct(Operation *op) {
  return isa<cta::WgmmaOp, cta::MmaSyncOp, cta::FmaDotOp>(op);
}

/// Loads into registers that run ahead in loops of products.
struct RegisterLoads {
  DenseSet<Operation *> indices; ///< Of what the addresses of copies are computed from, as numbers of pages.
  DenseSet<Operation *> values;  ///< Of what cp.async does not copy: an iteration ahead.
};

bool isPlainLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && !load.getIsVolatile();
}

/// Adds to memory whatever is there; who does not look at it cannot have waited for other programs.
bool isBlindUpdate(Operation *op) {
  return isa<AtomicRmwOp>(op) && op->use_empty();
}

/// What the stores of a loop write; none if something else in it may write memory, wait for other programs, or print.
std::optional<PointerBases> findWritten(scf::ForOp loop) {
  PointerBases written;
  bool isKnown = !loop.getBody()
                      ->walk([&](Operation *op) {
                        bool isStore = isa<StoreOp>(op) || isBlindUpdate(op);
                        if (isStore)
                          written.join(PointerBases::writtenBy(op));
                        return !isStore && (writesGlobalMemory(op) || isa<PrintOp, AssertOp>(op))
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
  return isKnown ? std::optional(written) : std::nullopt;
}

/// Whether a load or copy reads what no earlier iteration writes.
bool mayRunAhead(Operation *op, const PointerBases &written) {
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return !PointerBases::of(copy.getPtr()).mayOverlap(written);
  return isPlainLoad(op) && !PointerBases::of(cast<LoadOp>(op).getPtr()).mayOverlap(written);
}

RegisterLoads planRegisterLoads(scf::ForOp loop, const PointerBases &written) {
  RegisterLoads plan;
  // Copies by TMA run ahead in a role of their own.
  bool isOther =
      loop.getBody()
          ->walk([](Operation *op) {
            return isa<LoopLikeOpInterface, cta::TmaLoadSyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (isOther)
    return plan;
  for (Operation *op : collectStage(loop, isCopy))
    if (isPlainLoad(op))
      plan.indices.insert(op);
  // Beside copies for warps' products only what becomes an operand runs ahead: weights that are widened, say. Beside
  // products of warp groups, which have more sums, nothing does.
  bool isForWarps = !loop.getBody()->getOps<cta::MmaSyncOp>().empty();
  bool isBesideCopies = isForWarps && !loop.getBody()->getOps<cta::AsyncCopyOp>().empty();
  if (isBesideCopies && !loop.getBody()->getOps<cta::WgmmaOp>().empty())
    return plan;
  DenseSet<Operation *> ofOperands;
  if (isBesideCopies)
    ofOperands = collectStage(loop, [](Operation *op) { return isa<cta::MmaSyncOp>(op); });
  // If there are registers for all of them beside accumulators and addresses, which others would not leave; those of
  // stores, and what is stored, take some, too.
  const int64_t mostRegisters = written.isEmpty() ? 192 : 128;
  int64_t registers = 0;
  for (Operation &op : *loop.getBody())
    if (isProduct(&op))
      registers += countRegisters(cast<RankedTensorType>(op.getResult(0).getType()));
  if (registers == 0)
    return {};
  DenseSet<Operation *> values;
  for (auto load : loop.getBody()->getOps<LoadOp>()) {
    if (plan.indices.contains(load) || !mayRunAhead(load, written) || (isBesideCopies && !ofOperands.contains(load)))
      continue;
    if (auto type = dyn_cast<RankedTensorType>(load.getType()))
      registers +=
          countRegisters(type) + countRegisters(cast<RankedTensorType>(load.getPtr().getType())) / load.getVector();
    DenseSet<Operation *> slice = collectStage(loop, [&](Operation *op) { return op == load; });
    if (llvm::all_of(slice, [&](Operation *op) { return mayRunAhead(op, written) || isMemoryEffectFree(op); }))
      values.insert(load);
  }
  if (registers <= mostRegisters)
    plan.values = std::move(values);
  return plan;
}

/// What is done beside copies and uses, in which order.
struct PipelinePlan {
  int64_t slots; ///< None without copies.
  std::optional<LookAhead> ahead;
  bool inFlight = false; ///< A product of warp groups.
  RegisterLoads loads;
  bool isShort = false; ///< Each iteration has its slot.

  /// The stages: an iteration for the numbers that the addresses of copies are computed from, the others between the
  /// copies and their arrival, and their use.
  unsigned getCopy() const { return loads.indices.empty() ? 0 : 1; }
  unsigned getArrival() const { return getCopy() + slots - (isShort ? 0 : 1); }
  unsigned getUse() const { return slots == 0 ? 1 : getCopy() + slots - (ahead || isShort ? 0 : 1); }
};

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
  // Iterations whose copies have begun and need not have arrived.
  cta::AsyncWaitOp::create(rewriter, loop.getLoc(), plan.getArrival() - plan.getCopy() - 1);
  if (isFenced)
    cta::ProxyFenceOp::create(rewriter, loop.getLoc());
}

/// The wait for copies, and the fence behind it, that multiplyBuffers leaves at the start of the body.
bool isArrival(Operation *op) {
  return isa<cta::AsyncWaitOp>(op) ||
         (isa<cta::ProxyFenceOp>(op) && isa_and_present<cta::AsyncWaitOp>(op->getPrevNode()));
}

/// Copies and loads of iterations that the loop does not have are masked out; everything else that runs ahead does no
/// harm: loads of slots read slots that exist.
Operation *predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto maskOut = [&](auto access) {
    rewriter.setInsertionPoint(access);
    access.getMaskMutable().assign(emitMaskIf(rewriter, access.getLoc(), condition, access.getMask(), access.getPtr()));
  };
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    maskOut(copy);
  if (auto load = dyn_cast<LoadOp>(op))
    maskOut(load);
  return op;
}

/// A loop can be pipelined when the copies stand in its body, on buffers of their own, and do not depend on what the
/// computation produces or writes.
bool canPipeline(scf::ForOp loop) {
  // How often a loop of step 0 runs is not known.
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep()); step && *step <= 0)
    return false;
  std::optional<PointerBases> written = findWritten(loop);
  if (!written)
    return false;
  bool hasCopies = false;
  for (Operation &op : *loop.getBody())
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op)) {
      auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
      if (!alloc || alloc->getBlock() != loop.getBody() ||
          llvm::count_if(alloc->getUsers(), llvm::IsaPred<cta::AsyncCopyOp>) != 1)
        return false;
      hasCopies = true;
    }
  RegisterLoads loads = planRegisterLoads(loop, *written);
  // Waits for copies that began before the loop stay where they are.
  bool hasWaits = !loop.getBody()->getOps<cta::AsyncWaitOp>().empty();
  if (!hasCopies && (hasWaits || loads.values.empty()))
    return false;
  // A store in the loop may write what a later iteration reads.
  return llvm::all_of(collectStage(loop, isCopy), [&](Operation *op) {
    if (isa<cta::AsyncCopyOp>(op) || loads.indices.contains(op))
      return mayRunAhead(op, *written);
    return isa<cta::AsyncCommitOp, cta::AllocOp>(op) || isMemoryEffectFree(op);
  });
}

LoopSchedule planSchedule(scf::ForOp loop, const PipelinePlan &plan) {
  // What several of them need belongs to the first.
  DenseSet<Operation *> taken;
  auto collect = [&](llvm::function_ref<bool(Operation *)> isRoot) {
    DenseSet<Operation *> stage;
    for (Operation *op : collectStage(loop, isRoot))
      if (taken.insert(op).second)
        stage.insert(op);
    return stage;
  };
  const std::optional<LookAhead> &ahead = plan.ahead;
  DenseSet<Operation *> indices = collect([&](Operation *op) { return plan.loads.indices.contains(op); });
  DenseSet<Operation *> copies = collect(isCopy);
  DenseSet<Operation *> loads = collect([&](Operation *op) { return ahead && ahead->loads.contains(op); });
  DenseSet<Operation *> values = collect([&](Operation *op) { return plan.loads.values.contains(op); });

  LoopSchedule schedule;
  auto add = [&](unsigned stage, llvm::function_ref<bool(Operation *)> belongs) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (belongs(&op))
        schedule.emplace_back(&op, stage);
  };
  Operation *first = &loop.getBody()->front();
  if (ahead)
    first = ahead->lastStep;
  // Values leave the registers that the next iteration's are loaded into.
  if (plan.slots == 0)
    first = &*llvm::find_if(*loop.getBody(), [](Operation &op) { return isProduct(&op); });
  auto isUse = [&](Operation *op) { return !isArrival(op) && !taken.contains(op); };
  // The product's wait is for the one before, whose slot is filled; or none is filled again.
  if (plan.inFlight || plan.isShort) {
    add(plan.getArrival(), isArrival);
    add(plan.getUse(), isUse);
    add(plan.getCopy(), [&](Operation *op) { return copies.contains(op); });
    add(0, [&](Operation *op) { return indices.contains(op); });
    add(plan.getUse() - 1, [&](Operation *op) { return values.contains(op); });
    return schedule;
  }
  add(plan.getUse(), [&](Operation *op) { return isUse(op) && op->isBeforeInBlock(first); });
  add(plan.getArrival(), isArrival);
  add(plan.getCopy(), [&](Operation *op) { return copies.contains(op); });
  add(plan.getArrival(), [&](Operation *op) { return loads.contains(op); });
  add(0, [&](Operation *op) { return indices.contains(op); });
  add(plan.getUse() - 1, [&](Operation *op) { return values.contains(op); });
  add(plan.getUse(), [&](Operation *op) { return isUse(op) && !op->isBeforeInBlock(first); });
  return schedule;
}

/// None if it is not known.
std::optional<int64_t> getTripCount(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  return lower && upper && step ? std::optional(llvm::divideCeilSigned(*upper - *lower, *step)) : std::nullopt;
}

LogicalResult pipeline(IRRewriter &rewriter, scf::ForOp loop, int64_t slots) {
  nameYields(rewriter, loop);
  PipelinePlan plan{slots, std::nullopt, slots != 0 && staysInFlight(loop),
                    planRegisterLoads(loop, findWritten(loop).value_or(PointerBases()))};
  if (plan.loads.indices.empty())
    plan.ahead = planLookAhead(loop);
  plan.isShort = slots != 0 && !plan.ahead && getTripCount(loop) == slots;
  plan.inFlight &= !plan.isShort;
  if (slots != 0) {
    unsigned count = plan.ahead ? 3 : 2;
    loop = addSlotCounters(rewriter, loop, slots, count);
    ValueRange counters = loop.getRegionIterArgs().take_back(count);
    multiplyBuffers(rewriter, loop, plan, {counters[0], counters[1], counters.back()});
  }

  scf::PipeliningOption options;
  options.supportDynamicLoops = true;
  options.peelEpilogue = false;
  options.predicateFn = predicate;
  options.getScheduleFn = [&](scf::ForOp loop, LoopSchedule &schedule) { schedule = planSchedule(loop, plan); };
  rewriter.setInsertionPoint(loop);
  FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop, options);
  if (failed(pipelined))
    return failure();
  // All copies have begun; what is committed without any counts for the waits.
  if (plan.isShort)
    for (auto copy : llvm::make_early_inc_range(pipelined->getBody()->getOps<cta::AsyncCopyOp>()))
      rewriter.eraseOp(copy);
  // The masked-out copies of the last iterations still write zeros: they must be over before the memory is reused.
  rewriter.setInsertionPointAfter(*pipelined);
  if (slots != 0)
    cta::AsyncWaitOp::create(rewriter, pipelined->getLoc(), 0);
  // Copies fill the slot of the product before, which is complete: no need to ask whether they may pass.
  if (LoopGraph graph(*pipelined); plan.inFlight)
    if (std::optional<ProductSchedule> flight = planFlight(graph))
      runAhead(rewriter, graph, *flight);
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
  if (bytes == 0)
    return 0;
  wanted = std::min(wanted, std::max<int64_t>(2, getTripCount(loop).value_or(wanted)));
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
      int64_t slots = planSlots(loop, getNumStages(loop), *gpu);
      bool hasCopies = !loop.getBody()->getOps<cta::AsyncCopyOp>().empty();
      if (hasCopies ? slots < 2 : getNumStages(loop) < 2)
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
