// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates values that depend on the iteration of a loop, and the conditions under which operations are executed.
//
//   for %k = 0 to %n step 64 iter_args(%p = %a) { … yield %p + 64 }     %k = 64 * i,  %p = %a + 64 * i
#include "Verify/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::verify {

Symbol Evaluator::iterationOf(scf::ForOp loop) {
  auto known = iterations.find(loop);
  if (known != iterations.end())
    return known->second;
  const Interval lower = symbols.boundsOf(integer(loop.getLowerBound(), {}).poly),
                 upper = symbols.boundsOf(integer(loop.getUpperBound(), {}).poly),
                 step = symbols.boundsOf(integer(loop.getStep(), {}).poly);
  SymbolInfo info{SymbolKind::Iteration, "iteration of the loop at " + lineOf(loop.getLoc())};
  // If the bounds may overflow, they do not limit the number of iterations.
  const Wide most = Wide(1) << (loop.getUpperBound().getType().isInteger(32) ? 31 : 62);
  const Wide least = loop.getUnsignedCmp() ? Wide(0) : -most;
  const bool fits = lower.low >= least && lower.high < most && upper.low >= least && upper.high < most;
  info.range = {0, fits ? std::max<Wide>(0, (upper.high - lower.low) / std::max<Wide>(1, step.low)) : 2 * most};
  info.location = loop.getLoc();
  return iterations[loop] = symbols.add(info);
}

/// Returns the number of iterations.
Poly Evaluator::countOf(scf::ForOp loop, Needs &set) {
  IntegerTerm terms[] = {integer(loop.getLowerBound(), {}), integer(loop.getUpperBound(), {}),
                         integer(loop.getStep(), {})};
  for (auto [term, value] : llvm::zip(terms, loop->getOperands().take_front(3))) {
    requireRange(term, value, loop.getUnsignedCmp());
    set.insert(term.needs.begin(), term.needs.end());
  }
  const auto &[lower, upper, step] = terms;
  auto [count, remainder] = symbols.divide(upper.poly - lower.poly + step.poly - Poly(1), step.poly, /*isFloor=*/true);
  return symbols.choose(Formula::less(lower.poly, upper.poly), count, 0);
}

/// Returns true if the value is the same in each iteration.
static bool isInvariant(Value value, Operation *loop) {
  llvm::SetVector<Value> reached; // many values may be used along many paths, so each is visited once
  reached.insert(value);
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    Value argument = reached[next];
    if (!op && loop->isAncestor(argument.getParentBlock()->getParentOp()))
      return false;
    if (!op || !loop->isProperAncestor(op))
      continue;
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return false;
    reached.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

std::optional<IntegerTerm> Evaluator::stepOf(Value yielded, BlockArgument carried, const Index &index) {
  if (yielded == carried)
    return IntegerTerm();
  Operation *op = yielded.getDefiningOp(), *loop = carried.getOwner()->getParentOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, AddPtrOp>(op))
    return isa_and_nonnull<HintOp>(op) ? stepOf(op->getOperand(0), carried, index) : std::nullopt;
  Value moved = op->getOperand(0), added = op->getOperand(1);
  if (isa<arith::AddIOp>(op) && isInvariant(moved, loop))
    std::swap(moved, added);
  if (!isInvariant(added, loop))
    return std::nullopt;
  std::optional<IntegerTerm> before = stepOf(moved, carried, index);
  if (!before)
    return std::nullopt;
  IntegerTerm change = integer(added, index);
  if (isa<AddPtrOp>(op))
    requireRange(change, added);
  const Poly sum = isa<arith::SubIOp>(op) ? before->poly - change.poly : before->poly + change.poly;
  return IntegerTerm{sum, merge(before->needs, change.needs)};
}

/// Returns the amount that has been added to a carried value since the loop began, at the start or end of an iteration.
std::optional<IntegerTerm> Evaluator::advanceOf(scf::ForOp loop, unsigned carried, const Index &index, bool isResult) {
  std::optional<IntegerTerm> step = stepOf(loop.getYieldedValues()[carried], loop.getRegionIterArg(carried), index);
  if (!step)
    return std::nullopt;
  if (step->poly == Poly(0))
    return step;
  IntegerTerm advance;
  const Poly count = isResult ? countOf(loop, advance.needs) : Poly::symbol(iterationOf(loop));
  advance.poly = step->poly * count;
  mergeIf(advance.needs, step->needs, Formula::less(0, count)); // the first iteration does not use the step
  return advance;
}

IntegerTerm Evaluator::carriedInteger(scf::ForOp loop, unsigned carried, const Index &index, Value value) {
  std::optional<IntegerTerm> advance = advanceOf(loop, carried, index, isa<OpResult>(value));
  if (!advance)
    return unknownInteger(value, "a value that the loop at " + lineOf(loop.getLoc()) + " carries");
  IntegerTerm start = integer(loop.getInitArgs()[carried], index);
  return {start.poly + advance->poly, merge(start.needs, advance->needs)};
}

PointerTerm Evaluator::carriedPointer(scf::ForOp loop, unsigned carried, const Index &index, Value value) {
  std::optional<IntegerTerm> advance = advanceOf(loop, carried, index, isa<OpResult>(value));
  if (!advance)
    return {std::nullopt, {}, {}, "a pointer that the loop at " + lineOf(loop.getLoc()) + " carries"};
  PointerTerm start = pointer(loop.getInitArgs()[carried], index);
  start.offset = start.offset + advance->poly;
  start.needs = merge(start.needs, advance->needs);
  return start;
}

/// Returns the assumptions that precede `op` in its block.
static SmallVector<AssumeOp> assumptionsBefore(Operation *op) {
  SmallVector<AssumeOp> found;
  for (AssumeOp assume : op->getBlock()->getOps<AssumeOp>())
    if (assume->isBeforeInBlock(op))
      found.push_back(assume);
  return found;
}

Value Evaluator::forwardedTo(BlockArgument argument) {
  auto loop = dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp());
  const bool isForwarded = loop && argument.getOwner() == &loop.getAfter().front();
  return isForwarded ? loop.getConditionOp().getArgs()[argument.getArgNumber()] : Value();
}

std::vector<PathStep> Evaluator::pathTo(Operation *op) {
  SmallVector<Operation *> around; // innermost first
  for (Operation *at = op; at && !isa<KernelOp>(at); at = at->getParentOp())
    around.push_back(at);
  std::vector<PathStep> path;
  for (auto [number, at] : llvm::enumerate(llvm::reverse(around))) {
    for (AssumeOp assume : assumptionsBefore(at))
      for (const TruthTerm &part : conjuncts(assume.getCondition(), {}))
        path.push_back({part.truth, part.needs, /*isAssumption=*/true});
    if (at == op)
      break;
    Operation *inner = around[around.size() - 2 - number];
    if (auto branch = dyn_cast<scf::IfOp>(at)) {
      const bool isThen = inner->getParentRegion() == &branch.getThenRegion();
      TruthTerm condition = truth(branch.getCondition(), {});
      path.push_back({isThen ? condition.truth : !condition.truth, condition.needs});
    } else if (auto loop = dyn_cast<scf::ForOp>(at)) {
      IntegerTerm variable = integer(loop.getInductionVar(), {}), upper = integer(loop.getUpperBound(), {}),
                  step = integer(loop.getStep(), {});
      requireRange(upper, loop.getUpperBound(), loop.getUnsignedCmp());
      path.push_back({Formula::less(variable.poly, upper.poly) && Formula::less(0, step.poly),
                      merge(variable.needs, upper.needs)});
    } else if (auto loop = dyn_cast<scf::WhileOp>(at); loop && inner->getParentRegion() == &loop.getAfter()) {
      for (const TruthTerm &part : conjuncts(loop.getConditionOp().getCondition(), {}))
        path.push_back({part.truth, part.needs});
    }
  }
  return path;
}

} // namespace tile::verify
