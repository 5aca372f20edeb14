// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Planning of prefetches in a loop; see PipelinePlan.h.
#include "Transforms/Cta/PipelinePlan.h"

#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Loops/LoopContents.h"
#include "Analysis/Loops/LoopGraph.h"
#include "Analysis/Loops/LoopOptions.h"
#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/CopyStages.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/IssueOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

std::string PipelinePlan::print() const {
  if (unroll > 1)
    return "loads of " + std::to_string(unroll) + " iterations are issued together";
  SmallVector<std::string> parts;
  if (slots != 0)
    parts.push_back("copies run " + std::to_string(getUse() - getCopy()) + " iterations ahead");
  if (ahead)
    parts.push_back("operands of the first step are loaded during the last one");
  if (!values.empty())
    parts.push_back(std::to_string(values.size()) + (values.size() == 1 ? " load runs" : " loads run") +
                    " an iteration ahead");
  if (!indices.empty())
    parts.push_back("addresses of copies are loaded an iteration before the copies");
  if (inFlight)
    parts.push_back("MMAs stay in flight");
  return llvm::join(parts, ", ");
}

bool tile::isCopy(Operation *op) {
  return isa<cta::AsyncCopyOp, cta::AsyncCommitOp>(op);
}

bool tile::isArrival(Operation *op) {
  return isa<cta::AsyncWaitOp>(op) ||
         (isa<cta::ProxyFenceOp>(op) && isa_and_present<cta::AsyncWaitOp>(op->getPrevNode()));
}

namespace {

/// Plans the look-ahead of a loop. Returns nullopt if the body loads anything from shared memory other than the copied
/// operands of one chain of MMAs.
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

/// Returns true if wgmmas can stay in flight while the next copies arrive: they multiply the copied data, and nothing
/// else writes it. TMA loads next to them are moved to a separate role.
bool staysInFlight(scf::ForOp loop) {
  LoopGraph graph(loop);
  if (!graph.build() || !planInFlight(graph.nodes))
    return false;
  DenseSet<Operation *> operands;
  for (auto mma : loop.getBody()->getOps<cta::WgmmaOp>())
    operands.insert_range(ArrayRef{getAlloc(mma.getBufferA()), getAlloc(mma.getB())});
  bool isCopied = false, isWritten = false;
  loop.walk([&](Operation *op) {
    for (const SharedAccess &access : getSharedAccesses(op))
      if (access.isWrite && operands.contains(getAlloc(access.buffer)) && !isa<cta::TmaLoadSyncOp>(op))
        (isa<cta::AsyncCopyOp>(op) ? isCopied : isWritten) = true;
  });
  return isCopied && !isWritten;
}

bool isMma(Operation *op) {
  return isa<cta::WgmmaOp, cta::MmaSyncOp, cta::FmaDotOp>(op);
}

bool isPlainLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && !load.getIsVolatile();
}

/// Returns true for an atomic update whose result is unused, so that it cannot serve to wait for other programs.
bool isBlindUpdate(Operation *op) {
  return isa<AtomicRmwOp>(op) && op->use_empty();
}

/// Returns what the stores of a loop write. Returns nullopt if other operations in the loop may write memory, wait for
/// other programs, or print.
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

/// Returns true if a load or copy reads nothing that an earlier iteration writes.
bool mayRunAhead(Operation *op, const PointerBases &written) {
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return !PointerBases::of(copy.getPtr()).mayOverlap(written);
  return isPlainLoad(op) && !PointerBases::of(cast<LoadOp>(op).getPtr()).mayOverlap(written);
}

/// Returns the loads from which addresses of copies are computed, such as page indices.
DenseSet<Operation *> findIndices(scf::ForOp loop) {
  DenseSet<Operation *> indices;
  for (Operation *op : collectStage(loop, isCopy))
    if (isPlainLoad(op))
      indices.insert(op);
  return indices;
}

/// Returns the loads of dot operands that cp.async does not copy, if all of them fit into registers alongside
/// accumulators and addresses. Also counts the registers of stores and of the values that they store.
DenseSet<Operation *> findOperands(scf::ForOp loop, const DenseSet<Operation *> &indices, const PointerBases &written) {
  // In a loop that also has copies for mma.sync, only values that become an operand, such as weights that are widened,
  // are prefetched. In a loop with wgmmas, which have larger accumulators, no values are.
  bool isForWarps = !loop.getBody()->getOps<cta::MmaSyncOp>().empty();
  bool hasCopies = isForWarps && !loop.getBody()->getOps<cta::AsyncCopyOp>().empty();
  if (hasCopies && !loop.getBody()->getOps<cta::WgmmaOp>().empty())
    return {};
  DenseSet<Operation *> ofOperands;
  if (hasCopies)
    ofOperands = collectStage(loop, [](Operation *op) { return isa<cta::MmaSyncOp>(op); });
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
  const int64_t maxRegisters = written.isEmpty() ? tuned.operandLoadRegisters : tuned.operandLoadRegistersWithStores;
  int64_t registers = 0;
  for (Operation &op : *loop.getBody())
    if (isMma(&op))
      registers += countRegisters(cast<RankedTensorType>(op.getResult(0).getType()));
  if (registers == 0)
    return {};
  DenseSet<Operation *> operands;
  for (auto load : loop.getBody()->getOps<LoadOp>()) {
    if (indices.contains(load) || !mayRunAhead(load, written) || (hasCopies && !ofOperands.contains(load)))
      continue;
    if (auto type = dyn_cast<RankedTensorType>(load.getType()))
      registers +=
          countRegisters(type) + countRegisters(cast<RankedTensorType>(load.getPtr().getType())) / load.getVector();
    DenseSet<Operation *> slice = collectStage(loop, [&](Operation *op) { return op == load; });
    if (llvm::all_of(slice, [&](Operation *op) { return mayRunAhead(op, written) || isMemoryEffectFree(op); }))
      operands.insert(load);
  }
  return registers <= maxRegisters ? operands : DenseSet<Operation *>();
}

int64_t countThreads(scf::ForOp loop) {
  return loop->getParentOfType<KernelOp>().getNumWarps() * target::threadsPerWarp;
}

/// Returns the number of slots of the loop's copies (target::planCopyStages()): no more than the loop has iterations,
/// and no more than fit alongside the loop's other buffers (operands of scalar dots, for example, are copied a second
/// time).
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
  if (std::optional<APInt> iterations = countIterations(loop))
    wanted = std::min(wanted, std::max<int64_t>(2, iterations->getLimitedValue(wanted)));
  return target::planCopyStages(target, {.wanted = wanted,
                                         .stageBytes = bytes,
                                         .otherBytes = others,
                                         .threads = countThreads(loop),
                                         .multipliesByGroups = !loop.getBody()->getOps<cta::WgmmaOp>().empty()});
}

/// Returns the loads of scalars and short vectors, such as decays and scales of rows, if all of them take only a few
/// registers. In a loop of MMAs on copied operands, nothing else hides their latency. Loads that depend on other loads
/// are not among them.
DenseSet<Operation *> findShortLoads(scf::ForOp loop, const DenseSet<Operation *> &indices,
                                     const PointerBases &written) {
  DenseSet<Operation *> loads;
  int64_t registers = 0;
  for (auto load : loop.getBody()->getOps<LoadOp>()) {
    if (indices.contains(load) || !mayRunAhead(load, written))
      continue;
    DenseSet<Operation *> slice = collectStage(loop, [&](Operation *op) { return op == load; });
    if (!llvm::all_of(slice, [&](Operation *op) { return op == load || isMemoryEffectFree(op); }))
      continue;
    registers += countRegisters(load.getResult());
    loads.insert(load);
  }
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
  return registers <= tuned.freeLoadRegisters ? loads : DenseSet<Operation *>();
}

/// Plans the prefetch of copies that are in the body, have private buffers, and do not depend on the computation's
/// results or writes; and of dot operands that threads load.
std::optional<PipelinePlan> planMmaLoop(scf::ForOp loop, const LoopContents &contents,
                                        const target::GpuTarget &target) {
  std::optional<PointerBases> written = findWritten(loop);
  if (!written)
    return std::nullopt;
  bool hasCopies = false;
  for (auto copy : loop.getBody()->getOps<cta::AsyncCopyOp>()) {
    auto alloc = copy.getBuffer().getDefiningOp<cta::AllocOp>();
    if (!alloc || alloc->getBlock() != loop.getBody() ||
        llvm::count_if(alloc->getUsers(), llvm::IsaPred<cta::AsyncCopyOp>) != 1)
      return std::nullopt;
    hasCopies = true;
  }
  PipelinePlan plan;
  // TMA copies are prefetched by a separate role.
  if (!contents.hasAny({LoopContent::innerLoop, LoopContent::tmaCopy})) {
    plan.indices = findIndices(loop);
    plan.values = findOperands(loop, plan.indices, *written);
  }
  // Waits for copies that were issued before the loop stay where they are.
  bool hasWaits = !loop.getBody()->getOps<cta::AsyncWaitOp>().empty();
  if (!hasCopies && (hasWaits || plan.values.empty()))
    return std::nullopt;
  // A store in the loop may write data that a later iteration reads.
  bool isAhead = llvm::all_of(collectStage(loop, isCopy), [&](Operation *op) {
    if (isa<cta::AsyncCopyOp>(op) || plan.indices.contains(op))
      return mayRunAhead(op, *written);
    return isa<cta::AsyncCommitOp, cta::AllocOp>(op) || isMemoryEffectFree(op);
  });
  plan.slots = planSlots(loop, getNumStages(loop), target);
  if (!isAhead || (hasCopies ? plan.slots : getNumStages(loop)) < 2)
    return std::nullopt;
  if (plan.indices.empty())
    plan.ahead = planLookAhead(loop);
  std::optional<APInt> iterations = countIterations(loop);
  plan.isShort = hasCopies && !plan.ahead && iterations && *iterations == uint64_t(plan.slots);
  plan.copiesLast = hasCopies && !plan.isShort && staysInFlight(loop);
  plan.inFlight = plan.copiesLast && !contents.has(LoopContent::tmaCopy);
  if (hasCopies && plan.values.empty() && !plan.ahead && !plan.copiesLast &&
      !contents.hasAny({LoopContent::innerLoop, LoopContent::tmaCopy})) {
    plan.values = findShortLoads(loop, plan.indices, *written);
    plan.separates = !plan.values.empty();
  }
  return plan;
}

/// Returns true for a loop without MMAs in which only plain loads and stores are ordered.
bool isSimple(const LoopContents &contents) {
  using enum LoopContent;
  return contents.hasOnly({load, store, branch, reduction, exchange});
}

/// Returns true for a loop of wgmmas on TMA blocks that has no other ordered operations.
bool isMmaLoop(scf::ForOp loop, const LoopContents &contents) {
  using enum LoopContent;
  bool isPlain = contents.hasOnly({load, branch, reduction, exchange, groupMma, warpMma, tmaCopy, blockRead});
  return isPlain && !loop.getBody()->getOps<cta::WgmmaOp>().empty();
}

/// Returns true for a short loop in which the loads of several iterations can be issued at once. `slice` contains the
/// loads and the computation of their addresses.
bool isForUnrolling(scf::ForOp loop, const LoopContents &contents, const DenseSet<Operation *> &loads,
                    const DenseSet<Operation *> &slice) {
  using enum LoopContent;
  if (contents.hasAny({reduction, exchange, store, branch, groupMma}))
    return false;
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
  int64_t half = target::registersPerSm / countThreads(loop) / 2;
  int64_t loaded = 0, computed = 0;
  for (Operation &op : loop.getBody()->without_terminator())
    for (Value result : op.getResults())
      if (loads.contains(&op))
        loaded += countRegisters(result);
      else if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && !slice.contains(&op))
        computed += cta::getLayout(type).numRegisters();
  return loaded <= std::min<int64_t>(tuned.unrolledLoadRegisters, half / tuned.unrolledIterations) &&
         computed <= tuned.unrolledComputeRegisters;
}

/// Returns true if warp groups have registers for two iterations' prefetched values alongside accumulators and left
/// operands.
bool hasRoomBesidesMmas(scf::ForOp loop, const DenseSet<Operation *> &loads) {
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
  int64_t loaded = 0;
  for (Operation *op : loads)
    loaded += countRegisters(op->getResult(0));
  DenseSet<Value> held;
  for (auto mma : loop.getBody()->getOps<cta::WgmmaOp>()) {
    if (!mma.getAcc().getDefiningOp<cta::WgmmaOp>())
      held.insert(mma.getResult());
    if (isa<RankedTensorType>(mma.getA().getType()))
      held.insert(mma.getA());
  }
  int64_t registers = tuned.spareRegistersWithWgmma + 2 * loaded;
  for (Value value : held)
    registers += countRegisters(value);
  unsigned warps = loop->getParentOfType<KernelOp>().getNumWarps();
  std::optional<target::RoleRegisters> budget = target::planRoleRegisters(cta::getTarget(loop), warps);
  return loaded <= tuned.freeLoadRegisters || registers <= (budget ? budget->consumer : target::maxRegistersPerThread);
}

/// Returns true if the loop's registers leave room for prefetched values.
bool hasRoom(scf::ForOp loop, const LoopContents &contents, const DenseSet<Operation *> &loads) {
  int64_t threads = countThreads(loop);
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
  // If CTAs are small, several of them are resident, so memory is not idle while one of them reduces.
  const bool isSmall = threads <= 4 * target::threadsPerWarp;
  if (contents.has(LoopContent::groupMma))
    return hasRoomBesidesMmas(loop, loads);
  bool reduces = contents.has(LoopContent::reduction);
  int64_t registers = tuned.spareRegistersOfLoads;
  for (Value carried : loop.getRegionIterArgs())
    registers += countRegisters(carried);
  bool hasFewThreads = registers - tuned.spareRegistersOfLoads >= tuned.manyCarriedRegisters;
  DenseSet<Value> fromOutside;
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      bool isNumber = isa<FloatType>(getElementTypeOf(operand.getType())) && operand.getDefiningOp<LoadOp>();
      if (isNumber && loop.isDefinedOutsideOfLoop(operand) && fromOutside.insert(operand).second)
        registers += countRegisters(operand);
    }
  });
  for (Operation *op : loads) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    int64_t elements = type ? cta::getLayout(type).numRegisters() : 1;
    // Registers of values in flight and of values in use, the latter mostly widened to 32 bits.
    registers += countRegisters(op->getResult(0)) + std::max(elements, countRegisters(op->getResult(0)));
  }
  int64_t limit = target::registersOfLoneCta(threads);
  if (!hasFewThreads)
    limit = !reduces ? tuned.registersOfHalf : isSmall ? tuned.registersOfQuarter : limit;
  return registers <= limit;
}

/// Plans loads next to wgmmas, or in a loop without MMAs.
std::optional<PipelinePlan> planLoads(scf::ForOp loop, const LoopContents &contents) {
  bool multiplies = isMmaLoop(loop, contents);
  if (getNumStages(loop) < 2 || (!multiplies && !isSimple(contents)))
    return std::nullopt;
  PointerBases written;
  loop.walk([&](StoreOp store) { written.join(PointerBases::writtenBy(store)); });
  PipelinePlan plan;
  plan.separates = true;
  auto mayBeInSlice = [&](Operation *op) {
    bool isRead = isa<LoadOp>(op) && op->getBlock() == loop.getBody() && mayRunAhead(op, written);
    return isRead || (!isa<LoadOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op));
  };
  DenseSet<Operation *> slice; // the loads, and the computation of their addresses and masks
  bool hasBlock = false;
  for (auto load : loop.getBody()->getOps<LoadOp>()) {
    DenseSet<Operation *> own = collectStage(loop, [&](Operation *op) { return op == load; });
    if (!llvm::all_of(own, mayBeInSlice))
      continue;
    hasBlock |= multiplies || isa<RankedTensorType>(load.getType());
    plan.values.insert(load);
    slice.insert_range(own);
  }
  // Carried addresses will be one iteration ahead, even after the loop, so nothing but the slice may use them.
  bool isForSliceAlone = llvm::all_of(llvm::seq(loop.getNumRegionIterArgs()), [&](unsigned index) {
    auto isMember = [&](Operation *user) { return slice.contains(loop.getBody()->findAncestorOpInBlock(*user)); };
    return !slice.contains(loop.getYieldedValues()[index].getDefiningOp()) ||
           (loop.getResult(index).use_empty() && llvm::all_of(loop.getRegionIterArg(index).getUsers(), isMember));
  });
  if (!hasBlock || !isForSliceAlone)
    return std::nullopt;
  plan.unroll =
      isForUnrolling(loop, contents, plan.values, slice) ? target::tunedOf(cta::getTarget(loop)).unrolledIterations : 1;
  return plan.unroll > 1 || hasRoom(loop, contents, plan.values) ? std::optional(plan) : std::nullopt;
}

} // namespace

std::optional<PipelinePlan> tile::planPipeline(scf::ForOp loop, const target::GpuTarget &target) {
  // The trip count of a loop whose step is not positive is unknown.
  APInt step;
  if (matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
      (step.isZero() || (step.isNegative() && !loop.getUnsignedCmp())))
    return std::nullopt;
  LoopContents contents = LoopContents::of(loop);
  std::optional<PipelinePlan> plan = planLoads(loop, contents);
  return plan ? plan : planMmaLoop(loop, contents, target);
}

LoopSchedule tile::planOrder(scf::ForOp loop, const PipelinePlan &plan) {
  // Operations that several groups need belong to the first one.
  DenseSet<Operation *> taken;
  auto collect = [&](llvm::function_ref<bool(Operation *)> isRoot) {
    DenseSet<Operation *> stage;
    for (Operation *op : collectStage(loop, isRoot))
      if (taken.insert(op).second)
        stage.insert(op);
    return stage;
  };
  const std::optional<LookAhead> &ahead = plan.ahead;
  DenseSet<Operation *> indices = collect([&](Operation *op) { return plan.indices.contains(op); });
  DenseSet<Operation *> copies = collect(isCopy);
  DenseSet<Operation *> loads = collect([&](Operation *op) { return ahead && ahead->loads.contains(op); });
  DenseSet<Operation *> values = collect([&](Operation *op) { return plan.values.contains(op); });

  LoopSchedule schedule;
  DenseSet<Operation *> done;
  auto add = [&](unsigned stage, llvm::function_ref<bool(Operation *)> belongs) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (belongs(&op) && done.insert(&op).second)
        schedule.emplace_back(&op, stage);
  };
  auto isUse = [&](Operation *op) { return !isArrival(op) && !taken.contains(op); };
  if (plan.copiesLast || plan.isShort) {
    // Copies may now fill a slot: the wgmma that read this slot has been awaited, or no slot is filled twice.
    add(plan.getArrival(), isArrival);
    add(plan.getUse(), isUse);
  } else if (ahead) {
    add(plan.getUse(), [&](Operation *op) { return isUse(op) && op->isBeforeInBlock(ahead->lastStep); });
  } else if (plan.separates && plan.slots == 0) {
    IssueOrder order = planIssue(loop, plan.values);
    add(plan.getUse(), [&](Operation *op) { return isUse(op) && order.issue.contains(op); });
    add(plan.getUse(), [&](Operation *op) { return isUse(op) && order.use.contains(op); });
  } else if (plan.slots == 0) {
    // Uses of the loaded values before the MMA come first, so that the next iteration's loads can reuse the registers.
    Operation *first = &*llvm::find_if(*loop.getBody(), [](Operation &op) { return isMma(&op); });
    add(plan.getUse(), [&](Operation *op) { return isUse(op) && op->isBeforeInBlock(first); });
  }
  add(plan.getArrival(), isArrival);
  add(plan.getCopy(), [&](Operation *op) { return copies.contains(op); });
  add(plan.getArrival(), [&](Operation *op) { return loads.contains(op); });
  add(0, [&](Operation *op) { return indices.contains(op); });
  add(plan.getUse() - 1, [&](Operation *op) { return values.contains(op); });
  add(plan.getUse(), isUse);
  return schedule;
}
