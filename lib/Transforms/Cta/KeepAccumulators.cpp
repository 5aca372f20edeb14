// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-keep-accumulators: leave accumulators in tensor memory from one MMA to the next.
//
// cta-lower-dot stores the accumulator of each tcgen05 dot to tensor memory and loads the result. If the next dot
// accumulates onto that result, the load and the next store are superfluous. If a loop carries the result, the load and
// the store move out of the loop:
//
//   scf.for %k iter_args(%acc = 0) {             scf.for %k {
//     tensor_memory_store %acc, %m                 tcgen05_mma %a, %b, %m if %k != first
//     tcgen05_mma %a, %b, %m               ==>   }
//     %r = tensor_memory_load %m                 %r = tensor_memory_load %m
//     yield %r }
//
// The first iteration overwrites the memory instead of adding to zeros. If the loop has no iterations, the memory is
// never written, and the result is the initial value.
#include "Analysis/Loops/LoopRange.h"
#include "Cta/CtaDialect.h"
#include "Target/Engines/Tcgen05.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTAKEEPACCUMULATORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// A value that a loop carries only to have it in tensor memory during each iteration.
struct CarriedAccumulator {
  unsigned index; ///< The index of the carried value.
  cta::TensorMemoryStoreOp store;
  cta::TensorMemoryLoadOp load;
  /// Transpositions of the stored and the loaded value; null unless a dot computes the transposed result.
  TransOp before, after;
};

/// Returns the MMA that accumulates onto the stored value. Returns null if the next access is not an MMA, or is in a
/// loop or branch.
cta::Tcgen05MmaOp findFirstMma(cta::TensorMemoryStoreOp store) {
  auto accesses = [&](Operation *op) {
    return llvm::any_of(store.getMemory().getUsers(), [&](Operation *user) { return op->isAncestor(user); });
  };
  for (Operation *op = store->getNextNode(); op; op = op->getNextNode())
    if (accesses(op))
      return dyn_cast<cta::Tcgen05MmaOp>(op);
  return {};
}

std::optional<CarriedAccumulator> findCarried(scf::ForOp loop, unsigned index) {
  Value argument = loop.getRegionIterArg(index), yielded = loop.getYieldedValues()[index];
  auto onlyUser = [](Value value) { return value.hasOneUse() ? *value.user_begin() : nullptr; };
  auto before = dyn_cast_if_present<TransOp>(onlyUser(argument));
  auto after = before && yielded.hasOneUse() ? yielded.getDefiningOp<TransOp>() : TransOp();
  if (after) {
    argument = before.getResult();
    yielded = after.getSrc();
  }
  auto store = dyn_cast_if_present<cta::TensorMemoryStoreOp>(onlyUser(argument));
  auto load = yielded.getDefiningOp<cta::TensorMemoryLoadOp>();
  if (!store || !load || store->getBlock() != loop.getBody() || load->getBlock() != loop.getBody() ||
      store.getMemory() != load.getMemory() || !load->hasOneUse() || store.getColumns() != load.getColumns())
    return std::nullopt;
  bool isPrivate = llvm::all_of(store.getMemory().getUsers(), [&](Operation *user) { return loop->isAncestor(user); });
  return isPrivate ? std::optional(CarriedAccumulator{index, store, load, before, after}) : std::nullopt;
}

bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

class AccumulatorKeeper {
public:
  explicit AccumulatorKeeper(KernelOp kernel) : kernel(kernel), rewriter(kernel.getContext()) {}

  void run() {
    SmallVector<cta::TensorMemoryStoreOp> stores;
    kernel.walk([&](cta::TensorMemoryStoreOp store) { stores.push_back(store); });
    llvm::for_each(stores, [&](cta::TensorMemoryStoreOp store) { continueFrom(store); });
    SmallVector<scf::ForOp> loops; // inner loops first, so that outer loops can also keep their accumulators in memory
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned index = loop.getNumRegionIterArgs(); index-- > 0;)
        if (std::optional<CarriedAccumulator> carried = findCarried(loop, index); carried && hasRoom(carried->store))
          loop = hoist(loop, *carried);
  }

private:
  /// Lets a dot reuse the tensor memory of an earlier dot, if the result of the earlier dot is used only as this dot's
  /// accumulator.
  void continueFrom(cta::TensorMemoryStoreOp store) {
    auto load = store.getValue().getDefiningOp<cta::TensorMemoryLoadOp>();
    if (!load || !load->hasOneUse() || load->getBlock() != store->getBlock() ||
        load.getMemory().getType() != store.getMemory().getType() || load.getColumns() != store.getColumns())
      return;
    rewriter.replaceAllUsesWith(store.getMemory(), load.getMemory());
    rewriter.eraseOp(store);
    rewriter.eraseOp(load);
  }

  /// Returns true if tensor memory has room for the accumulator, for the accumulators that are already kept, and for
  /// the widest of the others.
  bool hasRoom(cta::TensorMemoryStoreOp store) {
    Value memory = store.getMemory();
    unsigned most = 0, operands = 0;
    for (auto other : kernel.getBody().front().getOps<cta::TensorMemoryAllocOp>())
      if (other.holdsScales() || other.holdsOperand())
        operands += other.getType().getColumns();
      else if (other.getResult() != memory && !kept.contains(other.getResult()))
        most = std::max(most, other.getType().getColumns());
    unsigned columns = kept.contains(memory) ? 0 : cast<cta::TensorMemoryType>(memory.getType()).getColumns();
    if (columnsKept + columns + most + operands > target::tensorMemoryColumns)
      return false;
    columnsKept += columns;
    kept.insert(memory);
    return true;
  }

  scf::ForOp hoist(scf::ForOp loop, CarriedAccumulator carried) {
    Location loc = carried.store.getLoc();
    Value memory = carried.store.getMemory(), init = loop.getInitArgs()[carried.index];
    IntegerAttr columns = carried.store.getColumnsAttr();
    cta::Tcgen05MmaOp first = findFirstMma(carried.store);
    bool overwrites = isZero(init) && first && !first.getAccumulate();
    rewriter.setInsertionPoint(loop);
    auto transpose = [&](OpBuilder &builder, TransOp of, Value value) -> Value {
      return of ? TransOp::create(builder, loc, of.getType(), value, of.getOrder()) : value;
    };
    if (!overwrites)
      cta::TensorMemoryStoreOp::create(rewriter, loc, transpose(rewriter, carried.before, init), memory, columns);
    if (overwrites) {
      rewriter.setInsertionPoint(first);
      Value isLater =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
      first.getAccumulateMutable().assign(isLater);
    }
    rewriter.setInsertionPointAfter(loop);
    auto load = [&](OpBuilder &builder) -> Value {
      Value loaded = cta::TensorMemoryLoadOp::create(builder, carried.load.getLoc(), carried.load.getResult().getType(),
                                                     memory, columns);
      return transpose(builder, carried.after, loaded);
    };
    std::optional<APInt> count = countIterations(loop);
    Value result;
    if (!overwrites || (count && !count->isZero()))
      result = load(rewriter);
    else
      result = scf::IfOp::create(
                   rewriter, loc, LoopRange(rewriter, loop).emitAny(),
                   [&](OpBuilder &builder, Location) { scf::YieldOp::create(builder, loc, load(builder)); },
                   [&](OpBuilder &builder, Location) { scf::YieldOp::create(builder, loc, init); })
                   .getResult(0);
    rewriter.replaceAllUsesWith(loop.getResult(carried.index), result);
    return dropCarried(loop, carried);
  }

  /// Removes the carried value, together with its store and load in each iteration.
  scf::ForOp dropCarried(scf::ForOp loop, CarriedAccumulator carried) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    yield->eraseOperand(carried.index);
    for (Operation *op : SmallVector<Operation *>{carried.store, carried.before, carried.after, carried.load})
      if (op)
        rewriter.eraseOp(op);
    SmallVector<Value> inits(loop.getInitArgs());
    inits.erase(inits.begin() + carried.index);
    loop.getBody()->eraseArgument(carried.index + 1);
    rewriter.setInsertionPoint(loop);
    auto other = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                    inits, nullptr, loop.getUnsignedCmp());
    other->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    rewriter.eraseBlock(other.getBody());
    other.getRegion().takeBody(loop.getRegion());
    SmallVector<Value> results;
    for (OpResult result : loop.getResults())
      if (result.getResultNumber() != carried.index)
        rewriter.replaceAllUsesWith(result, other.getResult(results.size())), results.push_back(result);
    rewriter.eraseOp(loop);
    return other;
  }

  KernelOp kernel;
  IRRewriter rewriter;
  DenseSet<Value> kept;
  unsigned columnsKept = 0;
};

struct CtaKeepAccumulators : tile::impl::CtaKeepAccumulatorsBase<CtaKeepAccumulators> {
  void runOnKernel() override { AccumulatorKeeper(getOperation()).run(); }
};

} // namespace
