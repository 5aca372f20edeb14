// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits the tiles of the last wave over idle CTAs (stream-K).
//
// A persistent kernel of T programs on G CTAs takes ceil(T / G) waves, although the last one may be nearly empty. If
// that wastes much time, the programs of the last wave are split along their K loops. Each has an owner, which executes
// its first steps. The remaining steps of all programs, laid end to end, are distributed to helpers in equal ranges,
// and the owner adds the helpers' accumulators to its own. The kernel decides at run time, when it knows the numbers of
// tiles and steps; this pass records what splitting costs and where to split:
//
//   tile.programs (…) { A; for k = 0 … S: acc += …; B(acc) }
//   ==>
//   tile.programs (…, %first, %end) steps (%n) #tile.work<…, tail = …> {
//     A; for k = first … end: acc += …; B(combine acc) }
//
// Other sums that the loop accumulates, such as the sum of an operand's columns, are split in the same way.
//
// At any time, owners are at the same step of neighbouring programs, as in full waves, so they share L2 reads. Helpers
// do the same if all programs have the same number of helpers. README.md of lib/Target has the rule for when to split;
// Cta/StreamSegments.cpp implements it.
//
// After Stream-K: Osama et al., "Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU"
// (2023), whose ranges begin at a different step of each program.
#include "Transforms/Cta/ShareTail.h"

#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/GemmPrograms.h"
#include "Cta/CtaDialect.h"
#include "Target/TailSplit.h"
#include "Transforms/I32Arith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

namespace {

/// Returns the number of accumulator elements, without padding.
int64_t elementsOf(GemmPrograms plan) {
  return plan.getAccumulatorType().getDimSize(0) * plan.getWgmma().getB().getType().getShape()[1];
}

/// Returns the size in bytes of a step along K.
int64_t stepBytesOf(GemmPrograms plan) {
  cta::BufferType b = plan.getWgmma().getB().getType();
  return b.getShape()[0] * getBytesInMemory(b.getElementType());
}

std::optional<GemmPrograms> planStream(KernelOp kernel) {
  // Teams alternate between whole programs, not between parts of them.
  if (kernel.getPingPong())
    return std::nullopt;
  // A kernel has only one scratch memory; if there is one already, it holds tensor maps.
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (kernel.getArgAttr(index, scratchAttrName))
      return std::nullopt;
  std::optional<GemmPrograms> plan = findGemmPrograms(kernel);
  using target::TailSplit;
  bool isWorthIt = plan && TailSplit::stepClocks(elementsOf(*plan), stepBytesOf(*plan)) >= TailSplit::minStepClocks;
  return isWorthIt ? plan : std::nullopt;
}

/// Splits the loop of the programs and records the costs. Does nothing if the number of steps differs between programs.
void cutTail(GemmPrograms plan) {
  ProgramsOp programs = plan.programs;
  scf::ForOp steps = plan.steps;
  IRRewriter rewriter(programs);
  Location loc = programs.getLoc();
  if (!steps.getInductionVar().getType().isInteger(32) || !canHoistOutOf(programs, getBounds(steps)))
    return;
  Value lower = hoistOutOf(programs, steps.getLowerBound(), rewriter),
        upper = hoistOutOf(programs, steps.getUpperBound(), rewriter),
        step = hoistOutOf(programs, steps.getStep(), rewriter);
  Value count = LoopRange(rewriter, loc, lower, upper, step, steps.getUnsignedCmp()).emitCount();
  target::TailSplit split(elementsOf(plan), stepBytesOf(plan));
  auto tail = StreamKAttr::get(rewriter.getContext(), split.sum, split.piece, split.fixed);
  programs.splitSteps(programs.getWork().withTail(tail), count);

  // All programs have the same number of steps, so a whole program, or the last part of one, ends at the original
  // bound. The induction variable may be unable to represent the value one step later.
  rewriter.setInsertionPoint(steps);
  LoopRange all(rewriter, steps);
  I32Arith n(rewriter, loc);
  Value isBeforeEnd = n.less(programs.getEndStep(), count);
  Value begin = all.emitVariable(programs.getFirstStep()), end = all.emitVariable(programs.getEndStep());
  steps.setLowerBound(begin);
  steps.setUpperBound(n.select(isBeforeEnd, end, all.upper));
  plan.emitCombines(rewriter, plan.getWgmma().getColumnsAttr());
}

} // namespace

void tile::shareTail(KernelOp kernel) {
  if (std::optional<GemmPrograms> plan = planStream(kernel))
    cutTail(*plan);
}
