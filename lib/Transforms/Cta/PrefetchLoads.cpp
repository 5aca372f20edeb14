// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-prefetch-loads: load what the next iteration of a loop needs before this one computes.
//
// A loop over rows, or over blocks of a row, that reduces what it loads leaves memory idle from the arrival of the
// loads to the end of the reduction, whose barriers all warps of the CTA reach at about the same time. A load that is
// issued an iteration ahead arrives meanwhile, for as many registers as it fills.
//
//   for: x = load(i); s = reduce x; store s    ==>    x = load(0)
//                                                     for: x' = load(i + 1); s = reduce x; store s; x = x'
//
// So it is beside products of warp groups: scales that they are multiplied by, maxima and sums of rows in the backward
// pass of attention, or the numbers of the next blocks, would come later than the product that they are loaded beside.
//
// Addresses and masks are computed again for whatever else needs them, so that nothing but loaded values crosses
// iterations. Loops of products whose operands threads copy have cta-pipeline; loops without reductions keep more in
// flight by having more threads, so there only few registers may be taken, unless the loop carries so many that threads
// are few anyway. Short loops that neither reduce nor store are unrolled instead, so that the loads of four iterations
// are issued at once.
#include "Analysis/LoopOptions.h"
#include "Analysis/PointerBases.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

namespace tile {
#define GEN_PASS_DEF_CTAPREFETCHLOADS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct PrefetchPlan {
  DenseSet<Operation *> loads;
  DenseSet<Operation *> slice; ///< The loads, and what their addresses and masks are computed from.
};

/// Nothing but arithmetic, reductions, plain loads and stores: what else a loop does keeps its order.
bool isSimple(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](Operation *op) {
                bool isAccess = isa<StoreOp>(op) || (isa<LoadOp>(op) && !cast<LoadOp>(op).getIsVolatile());
                bool isPlain = isAccess || isa<scf::IfOp>(op) || isMemoryEffectFree(op);
                return isPlain && !isa<LoopLikeOpInterface, cta::MmaSyncOp, cta::WgmmaOp, cta::FmaDotOp>(op)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// A loop of products of warp groups, of blocks that TMA brings, that does nothing else that keeps its order.
bool isOfProducts(scf::ForOp loop) {
  auto isPlain = [](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return !load.getIsVolatile();
    if (isa<LoopLikeOpInterface>(op))
      return false;
    return isa<cta::AllocOp, cta::MbarrierAllocOp, cta::TmaLoadSyncOp, cta::LocalLoadOp, cta::WgmmaOp, cta::AwaitOp,
               scf::IfOp>(op) ||
           isMemoryEffectFree(op);
  };
  return !loop.getBody()->getOps<cta::WgmmaOp>().empty() &&
         !loop.getBody()
              ->walk([&](Operation *op) { return isPlain(op) ? WalkResult::advance() : WalkResult::interrupt(); })
              .wasInterrupted();
}

std::optional<PrefetchPlan> planPrefetch(scf::ForOp loop) {
  bool multiplies = isOfProducts(loop);
  if (!multiplies && !isSimple(loop))
    return std::nullopt;
  PointerBases written;
  loop.walk([&](StoreOp store) { written.join(PointerBases::writtenBy(store)); });
  PrefetchPlan plan;
  auto mayRunAhead = [&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    bool isRead = load && load->getBlock() == loop.getBody() && !PointerBases::of(load.getPtr()).mayOverlap(written);
    return isRead || (!load && op->getNumRegions() == 0 && isMemoryEffectFree(op));
  };
  // What the loop hands on for addresses is an iteration ahead then, also after the loop.
  auto isForSliceAlone = [&](const DenseSet<Operation *> &slice) {
    return llvm::all_of(llvm::seq(loop.getNumRegionIterArgs()), [&](unsigned index) {
      auto isMember = [&](Operation *user) { return slice.contains(loop.getBody()->findAncestorOpInBlock(*user)); };
      return !slice.contains(loop.getYieldedValues()[index].getDefiningOp()) ||
             (loop.getResult(index).use_empty() && llvm::all_of(loop.getRegionIterArg(index).getUsers(), isMember));
    });
  };
  bool hasBlock = false;
  for (auto load : loop.getBody()->getOps<LoadOp>()) {
    DenseSet<Operation *> slice = collectStage(loop, [&](Operation *op) { return op == load; });
    if (!llvm::all_of(slice, mayRunAhead))
      continue;
    hasBlock |= multiplies || isa<RankedTensorType>(load.getType());
    plan.loads.insert(load);
    plan.slice.insert_range(slice);
  }
  return hasBlock && isForSliceAlone(plan.slice) ? std::optional(plan) : std::nullopt;
}

/// Registers of a thread, of 32 bits.
int64_t countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  int64_t bytes = type ? cta::getLayout(type).numRegisters() * getBytesInMemory(type.getElementType()) : 4;
  return llvm::divideCeil(bytes, 4);
}

template <typename... Ops> bool contains(scf::ForOp loop) {
  auto isOne = [](Operation *op) { return isa<Ops...>(op) ? WalkResult::interrupt() : WalkResult::advance(); };
  return loop.getBody()->walk(isOne).wasInterrupted();
}

constexpr int64_t unrollFactor = 4;

/// A short loop in which nothing keeps the loads of several iterations from being issued at once.
bool isForUnrolling(scf::ForOp loop, const PrefetchPlan &plan, int64_t threads) {
  if (contains<ReduceOp, ScanOp, StoreOp, scf::IfOp, cta::WgmmaOp>(loop))
    return false;
  // Registers of a thread, four times as many of which are in flight, and instructions.
  constexpr int64_t fewLoaded = 16, fewComputed = 32;
  int64_t half = target::registersPerSm / threads / 2;
  int64_t loaded = 0, computed = 0;
  for (Operation &op : loop.getBody()->without_terminator())
    for (Value result : op.getResults())
      if (plan.loads.contains(&op))
        loaded += countRegisters(result);
      else if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && !plan.slice.contains(&op))
        computed += cta::getLayout(type).numRegisters();
  return loaded <= std::min(fewLoaded, half / unrollFactor) && computed <= fewComputed;
}

/// Whether the loop's registers leave room for what is loaded ahead.
bool hasRoom(scf::ForOp loop, const PrefetchPlan &plan, int64_t threads) {
  // Of a multiprocessor, and of a thread; what half of the threads that it can hold may have each; addresses and
  // others.
  constexpr int64_t all = 65536, most = 255, ofHalf = 64, reserve = 24, manyCarried = 48;
  constexpr int64_t besideProduct = 8;
  if (!loop.getBody()->getOps<cta::WgmmaOp>().empty()) {
    int64_t loaded = 0;
    for (Operation *op : plan.loads)
      loaded += countRegisters(op->getResult(0));
    return loaded <= besideProduct;
  }
  bool exchanges = contains<ReduceOp, ScanOp>(loop);
  int64_t registers = reserve;
  for (Value carried : loop.getRegionIterArgs())
    registers += countRegisters(carried);
  bool hasFewThreads = registers - reserve >= manyCarried;
  DenseSet<Value> fromOutside;
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      bool isNumber = isa<FloatType>(getElementTypeOf(operand.getType())) && operand.getDefiningOp<LoadOp>();
      if (isNumber && loop.isDefinedOutsideOfLoop(operand) && fromOutside.insert(operand).second)
        registers += countRegisters(operand);
    }
  });
  for (Operation *op : plan.loads) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    int64_t elements = type ? cta::getLayout(type).numRegisters() : 1;
    // In flight, and in use, mostly as numbers of 32 bits.
    registers += countRegisters(op->getResult(0)) + std::max(elements, countRegisters(op->getResult(0)));
  }
  return registers <= (exchanges || hasFewThreads ? std::min(most, all / threads) : ofHalf);
}

/// What loads and others need is computed for both.
void separate(IRRewriter &rewriter, scf::ForOp loop, const PrefetchPlan &plan) {
  IRMapping copies;
  SmallVector<Operation *> shared;
  for (Operation &op : *loop.getBody())
    if (plan.slice.contains(&op) && !plan.loads.contains(&op))
      shared.push_back(&op);
  for (Operation *op : shared) {
    // What an iteration hands on for the next one's addresses belongs to the loads alone.
    auto isOther = [&](OpOperand &use) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      return user && !plan.slice.contains(user) && user != loop.getBody()->getTerminator();
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

Operation *maskOut(RewriterBase &rewriter, Operation *op, Value condition) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    rewriter.setInsertionPoint(load);
    load.getMaskMutable().assign(emitMaskIf(rewriter, load.getLoc(), condition, load.getMask(), load.getPtr()));
  }
  return op;
}

/// In which order an iteration issues a product, loads for the next iteration, and awaits the product.
struct IssueOrder {
  DenseSet<Operation *> issue; ///< The product and what comes before it, but for what waits for loaded numbers.
  DenseSet<Operation *> use;   ///< What is computed from these alone: before the next ones take their registers.
};

/// Empty if there is no product, or if it or its operands wait for loaded numbers.
IssueOrder planIssue(scf::ForOp loop, const PrefetchPlan &plan) {
  auto products = loop.getBody()->getOps<cta::WgmmaOp>();
  IssueOrder order;
  if (products.empty())
    return order;
  DenseSet<Operation *> late = plan.loads, after; // what needs loaded numbers, and what needs the product
  auto needs = [](Operation &op, const DenseSet<Operation *> &others) {
    auto uses = [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) { return others.contains(operand.getDefiningOp()); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    return op.walk(uses).wasInterrupted();
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isLate = plan.loads.contains(&op) || needs(op, late), isAfter = !after.empty();
    if (isLate)
      late.insert(&op);
    else if (!isAfter)
      order.issue.insert(&op);
    // A copy, too, to a place that was loaded.
    if (isLate && !isAfter && !plan.loads.contains(&op) && !isMemoryEffectFree(&op))
      return {};
    if (isa<cta::WgmmaOp>(op) || needs(op, after))
      after.insert(&op);
    else if (isLate && !plan.loads.contains(&op) && isMemoryEffectFree(&op))
      order.use.insert(&op);
  }
  return order;
}

LogicalResult prefetch(IRRewriter &rewriter, scf::ForOp loop, const PrefetchPlan &plan) {
  separate(rewriter, loop, plan);
  nameYields(rewriter, loop);
  // What is handed on for addresses is computed ahead, too.
  DenseSet<Operation *> ahead = collectStage(loop, [&](Operation *op) { return plan.loads.contains(op); });
  scf::PipeliningOption options;
  options.supportDynamicLoops = true;
  options.peelEpilogue = false;
  options.predicateFn = maskOut;
  options.getScheduleFn = [&](scf::ForOp loop, LoopSchedule &schedule) {
    IssueOrder order = planIssue(loop, plan);
    auto add = [&](unsigned stage, llvm::function_ref<bool(Operation *)> isWanted) {
      for (Operation &op : loop.getBody()->without_terminator())
        if (ahead.contains(&op) == (stage == 0) && isWanted(&op))
          schedule.emplace_back(&op, stage);
    };
    add(1, [&](Operation *op) { return order.issue.contains(op); });
    add(1, [&](Operation *op) { return order.use.contains(op); });
    add(0, [](Operation *) { return true; });
    add(1, [&](Operation *op) { return !order.issue.contains(op) && !order.use.contains(op); });
  };
  rewriter.setInsertionPoint(loop);
  return scf::pipelineForLoop(rewriter, loop, options);
}

struct CtaPrefetchLoads : tile::impl::CtaPrefetchLoadsBase<CtaPrefetchLoads> {
  void runOnKernel() override {
    int64_t threads = getOperation().getNumWarps() * target::threadsPerWarp;
    SmallVector<std::pair<scf::ForOp, PrefetchPlan>> plans;
    SmallVector<scf::ForOp> unrolled;
    getOperation().walk([&](scf::ForOp loop) {
      if (getNumStages(loop) < 2)
        return;
      std::optional<PrefetchPlan> plan = planPrefetch(loop);
      if (plan && isForUnrolling(loop, *plan, threads))
        unrolled.push_back(loop);
      else if (plan && hasRoom(loop, *plan, threads))
        plans.emplace_back(loop, std::move(*plan));
    });
    for (scf::ForOp loop : unrolled)
      (void)loopUnrollByFactor(loop, unrollFactor); // what cannot be stays as it is
    IRRewriter rewriter(&getContext());
    for (auto &[loop, plan] : plans) {
      Location loc = loop.getLoc();
      if (failed(prefetch(rewriter, loop, plan))) {
        emitError(loc) << "loads of this loop cannot run ahead; --num-stages=1 leaves it as it is";
        return signalPassFailure();
      }
    }
    eraseNames(rewriter, getOperation());
  }
};

} // namespace
