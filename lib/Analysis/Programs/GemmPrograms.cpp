// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognizes programs with one main loop.
#include "Analysis/Programs/GemmPrograms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Returns true if the operation must be executed only once per program, even if several CTAs each compute a part of
/// the program.
static bool happensOnce(Operation &op) {
  return !isMemoryEffectFree(&op) && !isa<LoadOp, cta::AllocOp, cta::MbarrierAllocOp>(op);
}

/// Returns true if the accumulation can be split into parts: the accumulator has 32 bits and starts from zero.
static bool startsFromZero(Value init) {
  auto type = dyn_cast<RankedTensorType>(init.getType());
  return type && (type.getElementType().isF32() || type.getElementType().isInteger(32)) &&
         (matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero()));
}

/// Returns true if a value that the loop carries is used only as the accumulator of one wgmma, which the loop awaits.
static bool onlyAddsWgmma(scf::ForOp loop, unsigned index) {
  BlockArgument acc = loop.getRegionIterArg(index);
  auto wgmma = acc.hasOneUse() ? dyn_cast<cta::WgmmaOp>(*acc.user_begin()) : cta::WgmmaOp();
  if (!wgmma || !wgmma.getBufferA() || wgmma.getAcc() != acc || !wgmma.getResult().hasOneUse())
    return false;
  auto await = dyn_cast<cta::AwaitOp>(*wgmma.getResult().user_begin());
  return await && loop.getYieldedValues()[index] == await.getResult() && await->hasOneUse();
}

namespace {

/// Checks that an iteration of a loop only adds to a carried sum, always or conditionally.
class Additions {
public:
  Additions(scf::ForOp loop, unsigned index) : carried(loop.getRegionIterArg(index)) {
    steps.insert(loop.getBody()->getTerminator());
    onlyAdds = follow(loop.getYieldedValues()[index]) && llvm::all_of(sums, [&](auto &entry) {
                 auto [value, isSum] = entry;
                 return !isSum || llvm::all_of(value.getUsers(), [&](Operation *user) { return steps.contains(user); });
               });
  }
  bool onlyAdds;

private:
  /// Returns true if `value` is the carried sum, possibly after additions to it.
  bool follow(Value value) {
    if (auto known = sums.find(value); known != sums.end())
      return known->second;
    bool isSum = value == carried;
    if (Operation *op = value.getDefiningOp(); isa_and_present<arith::AddFOp, arith::AddIOp>(op)) {
      isSum = follow(op->getOperand(0)) != follow(op->getOperand(1));
      steps.insert(op);
    } else if (auto branch = dyn_cast_if_present<scf::IfOp>(op)) {
      unsigned result = cast<OpResult>(value).getResultNumber();
      isSum = true;
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
        isSum &= follow(yield.getOperand(result));
        steps.insert(yield);
      }
    }
    sums[value] = isSum;
    return isSum;
  }

  BlockArgument carried;
  DenseMap<Value, bool> sums;  ///< For each visited value, whether it is the sum.
  DenseSet<Operation *> steps; ///< Additions, and operations that pass on their results.
};

} // namespace

std::optional<GemmPrograms> tile::findGemmPrograms(KernelOp kernel) {
  GemmPrograms plan;
  plan.programs = kernel.getPrograms();
  // Not supported: clusters whose CTAs execute the same iterations together, or already split them.
  if (!plan.programs || plan.programs.getWork().getCluster() || plan.programs.getWork().splitsSteps())
    return std::nullopt;
  for (Operation &op : plan.programs.getBody().front().without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop && !plan.steps && happensOnce(op))
      return std::nullopt;
    if (!loop || plan.steps)
      continue;
    plan.steps = loop;
  }
  if (!plan.steps || !llvm::all_of(plan.steps.getInitArgs(), startsFromZero))
    return std::nullopt;
  bool hasWgmma = false;
  for (unsigned index = 0; index < plan.steps.getNumResults(); ++index) {
    if (!hasWgmma && onlyAddsWgmma(plan.steps, index)) {
      hasWgmma = true;
      plan.accumulator = index;
    } else if (!Additions(plan.steps, index).onlyAdds) {
      return std::nullopt;
    }
  }
  return hasWgmma ? std::optional(plan) : std::nullopt;
}

void GemmPrograms::emitCombines(RewriterBase &rewriter, IntegerAttr columnsOfAccumulator) {
  for (OpResult sum : steps.getResults())
    emitCombine(sum, sum.getResultNumber() == accumulator ? columnsOfAccumulator : IntegerAttr(), rewriter);
}

/// Returns true if an iteration only adds dots to the accumulator.
static bool onlyAddsDots(scf::ForOp loop, unsigned accumulator) {
  Value value = loop.getRegionIterArg(accumulator);
  Operation *yield = loop.getBody()->getTerminator();
  bool hasDot = false;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user == yield)
      return hasDot && loop.getYieldedValues()[accumulator] == value;
    Value next;
    if (auto mma = dyn_cast<cta::MmaSyncOp>(user); mma && mma.getAcc() == value)
      next = mma.getResult();
    else if (auto fma = dyn_cast<cta::FmaDotOp>(user); fma && fma.getAcc() == value)
      next = fma.getResult();
    else if (auto mma = dyn_cast<cta::WgmmaOp>(user); mma && mma.getAcc() == value)
      next = mma.getResult();
    else if (auto await = dyn_cast<cta::AwaitOp>(user))
      next = await.getResult();
    if (!next || user->getBlock() != loop.getBody())
      return false;
    hasDot = true;
    value = next;
  }
  return false;
}

std::optional<MainLoop> tile::findMainLoop(KernelOp kernel) {
  MainLoop plan;
  for (Operation &op : kernel.getBody().front()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!plan.loop && !loop && happensOnce(op))
      return std::nullopt;
    if (!plan.loop && loop)
      plan.loop = loop;
  }
  auto happens = [](Operation *op) {
    return isa<PrintOp, AssertOp>(op) || writesGlobalMemory(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!plan.loop || plan.loop.walk(happens).wasInterrupted())
    return std::nullopt;
  std::optional<unsigned> accumulator;
  for (unsigned index = 0; index < plan.loop.getNumResults(); ++index) {
    auto add = plan.loop.getYieldedValues()[index].getDefiningOp<AddPtrOp>();
    if (add && add->hasOneUse() && add.getPtr() == plan.loop.getRegionIterArg(index) &&
        plan.loop.getResult(index).use_empty())
      plan.advances.emplace_back(index, add);
    else if (!accumulator && startsFromZero(plan.loop.getInitArgs()[index]) && onlyAddsDots(plan.loop, index))
      accumulator = index;
    else
      return std::nullopt;
  }
  if (!accumulator)
    return std::nullopt;
  plan.accumulator = *accumulator;
  return plan;
}

Value tile::hoistOffset(AddPtrOp add, Operation *outer, RewriterBase &rewriter) {
  Value offset = add.getOffset();
  DenseIntElementsAttr constant;
  if (matchPattern(offset, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(
        rewriter, add.getLoc(), rewriter.getIntegerAttr(constant.getElementType(), constant.getSplatValue<APInt>()));
  if (auto splat = offset.getDefiningOp<SplatOp>())
    offset = splat.getScalar();
  return isa<RankedTensorType>(offset.getType()) ? Value() : hoistOutOf(outer, offset, rewriter);
}

ProgramsOp tile::wrapPrograms(KernelOp kernel, ValueRange sizes, WorkAttr work) {
  Block &body = kernel.getBody().front();
  OpBuilder builder(body.getTerminator());
  auto programs = ProgramsOp::create(builder, kernel.getLoc(), sizes, work);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (&op != programs && !llvm::is_contained(sizes, op.getNumResults() == 1 ? op.getResult(0) : Value()))
      op.moveBefore(programs.getBody().front().getTerminator());
  programs.replaceGridOps();
  return programs;
}

void tile::emitCombine(Value accumulator, IntegerAttr columns, RewriterBase &rewriter) {
  rewriter.setInsertionPointAfterValue(accumulator);
  auto combine = cta::CombineOp::create(rewriter, accumulator.getLoc(), accumulator, columns);
  rewriter.replaceAllUsesExcept(accumulator, combine, combine);
}

bool tile::canHoistOutOf(Operation *outer, ValueRange values) {
  // Values may be reached along many paths, so each value is visited only once.
  llvm::SetVector<Value> reached(values.begin(), values.end());
  for (size_t next = 0; next < reached.size(); ++next) {
    Value value = reached[next];
    if (!outer->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return false;
    // An operation in a branch must stay there, because it may not be safe to execute it unconditionally.
    for (Operation *parent = op->getParentOp(); parent != outer; parent = parent->getParentOp())
      if (!isa<scf::ForOp, ProgramsOp>(parent))
        return false;
    reached.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Copies the computation of a value that can be hoisted to a position before `outer`. Adds the copied operations to
/// the map `copies`.
static Value emitOutside(Operation *outer, Value value, RewriterBase &rewriter, IRMapping &copies) {
  if (!outer->isAncestor(value.getParentBlock()->getParentOp()) || copies.contains(value))
    return copies.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    emitOutside(outer, operand, rewriter, copies);
  rewriter.clone(*op, copies);
  return copies.lookup(value);
}

Value tile::hoistOutOf(Operation *outer, Value value, RewriterBase &rewriter) {
  IRMapping copies;
  return canHoistOutOf(outer, value) ? emitOutside(outer, value, rewriter, copies) : Value();
}

SmallVector<Value> tile::getBounds(scf::ForOp loop) {
  return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
}
