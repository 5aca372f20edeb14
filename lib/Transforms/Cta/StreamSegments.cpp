// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers programs whose last wave is shared by CTAs (stream-K).
//
//   programs            |  T - 3        |  T - 2        |  T - 1        |
//   first steps         |  CTA h        |  CTA h + 1    |  CTA h + 2    |       owners
//   the others' ranges  |   CTA 0  |   CTA 1  |   CTA 2  | … |  CTA h - 1  |    helpers
//   pieces              |    0     | 1 |   2  | 3  | …                          program + helper
//
// A segment is a whole program or a part of one:
//
//   tile.programs (…, %first, %end, %piece, %pieces) steps (%n) { … }
//   ==>
//   for segment of CTA { p, first, end, piece, pieces = …; … }
#include "Transforms/Cta/StreamSegments.h"

#include "Cta/CtaDialect.h"
#include "Target/TailSplit.h"
#include "Transforms/I32Arith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

namespace {

/// Consecutive indices distributed to CTAs: the first `longer` CTAs get size + 1, the others `size`.
struct Ranges {
  Value size, longer;

  Value firstOf(Value cta, I32Arith &n) { return n.add(n.mul(cta, size), n.min(cta, longer)); }

  Value ctaOf(Value number, I32Arith &n) {
    Value zero = n.constant(0), longSize = n.add(size, n.constant(1)), inLonger = n.mul(longer, longSize);
    Value isInLonger = n.less(number, inLonger);
    Value ctas = n.div(n.sub(number, n.select(isInLonger, zero, inLonger)), n.select(isInLonger, longSize, size));
    return n.add(n.select(isInLonger, zero, longer), ctas);
  }
};

/// Sets isSplit, participants and ownSteps: target::TailSplit::share() in IR. The computation is in a branch, because
/// divisions are slow, and small problems must not wait for them.
void emitParticipants(TailPlan &plan, const target::TailSplit &split, RewriterBase &rewriter, Location loc) {
  I32Arith n(rewriter, loc);
  Value zero = n.constant(0), one = n.constant(1);
  Value mayGain = n.both(n.less(zero, plan.tail), n.both(n.less(n.constant(split.minSteps()), plan.steps),
                                                         n.less(plan.steps, n.constant(split.maxSteps))));
  Type i32 = rewriter.getI32Type(), i1 = rewriter.getI1Type();
  auto branch = scf::IfOp::create(rewriter, loc, TypeRange{i1, i32, i32}, mayGain, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  Value parts = one, partSteps = plan.steps;
  for (int64_t more = 2; more <= split.maxParts; ++more) {
    Value count = n.constant(more);
    Value isWorthIt = n.less(n.constant(split.stepsFor(more) - 1), plan.steps);
    Value hasCtas = n.less(n.mul(plan.tail, count), n.add(plan.ctas, one));
    Value fits = n.both(isWorthIt, hasCtas);
    parts = n.select(fits, count, parts);
    partSteps = n.select(fits, n.div(plan.steps, count), partSteps);
  }
  Value others = n.sub(parts, one), hasParts = n.less(zero, others);
  Value ownPart = n.sub(plan.steps, n.mul(others, partSteps));
  Value ownShare = n.ceilDiv(n.mul(plan.tail, n.add(plan.steps, n.constant(split.piece))), plan.ctas);
  Value own = n.select(hasParts, ownPart, ownShare);
  Value lost = n.add(n.mul(n.max(others, one), n.constant(split.sum)), n.constant(split.fixed));
  Value factor = n.select(n.less(zero, plan.waves), one, n.constant(split.onlyWave));
  Value pays = n.less(n.add(own, n.mul(lost, factor)), plan.steps);
  Value participants = n.select(hasParts, n.mul(plan.tail, parts), plan.ctas);
  scf::YieldOp::create(rewriter, loc, ValueRange{pays, participants, own});
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Value no = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
  scf::YieldOp::create(rewriter, loc, ValueRange{no, zero, plan.steps});
  plan.isSplit = branch.getResult(0);
  plan.participants = branch.getResult(1);
  plan.ownSteps = branch.getResult(2);
}

/// The work of a CTA: whole programs, followed by the first steps of a split program (owner), or by a range of steps
/// that may span several split programs (helper).
struct Share {
  Value whole;         ///< The number of programs that it computes completely.
  Value segments;      ///< The number of these, plus the split programs of which it computes a part.
  Value program, from; ///< Where its share of split programs begins.
  Value steps;         ///< The number of steps of this share.
  Value pieces;        ///< Pieces that helpers store for this owner.
  /// The index of a piece is this offset plus the index of its program. For a helper, this is the piece that it stores;
  /// for an owner, the last piece that it receives.
  Value pieceOffset;
};

class SegmentsLowering {
public:
  SegmentsLowering(ProgramsOp programs, const TailPlan &plan, Value cta, RewriterBase &rewriter)
      : programs(programs), plan(plan), cta(cta), rewriter(rewriter), loc(programs.getLoc()) {}

  void run(llvm::function_ref<void(Value)> emitCoordinates) {
    I32Arith n(rewriter, loc);
    zero = n.constant(0);
    one = n.constant(1);
    Share share = emitShare();
    auto segments = scf::ForOp::create(rewriter, loc, zero, share.segments, one,
                                       ValueRange{share.program, share.from, share.steps});
    rewriter.setInsertionPointToStart(segments.getBody());
    ValueRange next = emitSegment(share, segments, emitCoordinates);
    Block &body = programs.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    segments.getBody()->getOperations().splice(segments.getBody()->end(), body.getOperations());
    rewriter.setInsertionPointToEnd(segments.getBody());
    scf::YieldOp::create(rewriter, loc, next);
    rewriter.eraseOp(programs);
  }

private:
  Share emitShare() {
    I32Arith n(rewriter, loc);
    Share share;
    Value isInTail = n.select(n.less(cta, plan.tail), one, zero);
    share.whole = n.add(plan.waves, n.select(plan.isSplit, zero, isInTail));
    SmallVector<Type> types(6, rewriter.getI32Type());
    auto branch = scf::IfOp::create(rewriter, loc, types, plan.isSplit, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    // The first CTAs are helpers; owners follow.
    Value helpers = n.sub(plan.participants, plan.tail), others = n.sub(plan.steps, plan.ownSteps);
    Value isHelper = n.less(cta, helpers);
    Value work = n.mul(plan.tail, others), size = n.div(work, helpers);
    Ranges ranges{size, n.sub(work, n.mul(size, helpers))};
    Value first = ranges.firstOf(cta, n), end = ranges.firstOf(n.add(cta, one), n);
    Value firstIndex = n.div(first, others), lastIndex = n.div(n.sub(end, one), others);
    // CTAs without a program are treated as the owner of some program, so that no divisor is zero.
    Value owned = n.select(isHelper, zero, n.min(n.sub(cta, helpers), n.sub(plan.tail, one)));
    Value begin = n.mul(owned, others);
    Value firstHelper = ranges.ctaOf(begin, n), lastHelper = ranges.ctaOf(n.sub(n.add(begin, others), one), n);

    Value parts = n.select(isHelper, n.add(n.sub(lastIndex, firstIndex), one),
                           n.select(n.less(cta, plan.participants), one, zero));
    Value program = n.add(plan.whole, n.select(isHelper, firstIndex, owned));
    Value from = n.select(isHelper, n.add(plan.ownSteps, n.sub(first, n.mul(firstIndex, others))), zero);
    Value steps = n.select(isHelper, n.sub(end, first), plan.ownSteps);
    Value pieces = n.add(n.sub(lastHelper, firstHelper), one);
    Value pieceOffset = n.sub(n.select(isHelper, cta, lastHelper), plan.whole);
    scf::YieldOp::create(rewriter, loc,
                         ValueRange{n.add(share.whole, parts), program, from, steps, pieces, pieceOffset});
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, ValueRange{share.whole, zero, zero, zero, zero, zero});
    share.segments = branch.getResult(0);
    share.program = branch.getResult(1);
    share.from = branch.getResult(2);
    share.steps = branch.getResult(3);
    share.pieces = branch.getResult(4);
    share.pieceOffset = branch.getResult(5);
    return share;
  }

  /// Emits the program and its steps; returns where the next segment's share begins.
  ValueRange emitSegment(const Share &share, scf::ForOp segments, llvm::function_ref<void(Value)> emitCoordinates) {
    I32Arith n(rewriter, loc);
    Value number = segments.getInductionVar();
    ValueRange next = segments.getRegionIterArgs();
    Value isWhole = n.less(number, share.whole);
    auto segment = scf::IfOp::create(rewriter, loc, SmallVector<Type>(6, rewriter.getI32Type()), isWhole,
                                     /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(segment.thenBlock());
      Value whole = n.add(cta, n.mul(number, plan.ctas));
      scf::YieldOp::create(rewriter, loc, ValueRange{whole, zero, plan.steps, next[0], next[1], next[2]});
      rewriter.setInsertionPointToStart(segment.elseBlock());
      Value shared = next[0], from = next[1], steps = next[2], to = n.min(plan.steps, n.add(from, steps));
      scf::YieldOp::create(
          rewriter, loc,
          ValueRange{shared, from, to, n.add(shared, one), plan.ownSteps, n.sub(steps, n.sub(to, from))});
    }
    Value program = segment.getResult(0);
    emitCoordinates(program);
    programs.getFirstStep().replaceAllUsesWith(segment.getResult(1));
    programs.getEndStep().replaceAllUsesWith(segment.getResult(2));
    replaceUses(programs.getPiece(), [&] { return n.add(program, share.pieceOffset); });
    replaceUses(programs.getNumPieces(), [&] { return n.select(isWhole, zero, share.pieces); });
    return segment.getResults().drop_front(3);
  }

  /// Computes a value at its uses, which are after the main loop. If it were computed earlier, it would take registers
  /// in the loop.
  void replaceUses(Value argument, llvm::function_ref<Value()> emit) {
    OpBuilder::InsertionGuard guard(rewriter);
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      use.set(emit());
    }
  }

  ProgramsOp programs;
  const TailPlan &plan;
  Value cta;
  RewriterBase &rewriter;
  Location loc;
  Value zero, one;
};

} // namespace

TailPlan tile::emitTailPlan(ProgramsOp programs, Value count, Value ctas, RewriterBase &rewriter) {
  Location loc = programs.getLoc();
  StreamKAttr costs = programs.getWork().getTail();
  I32Arith n(rewriter, loc);
  TailPlan plan;
  plan.ctas = ctas;
  plan.steps = n.max(programs.getSteps(), n.constant(1));
  plan.waves = n.div(count, ctas);
  plan.tail = n.sub(count, n.mul(plan.waves, ctas));
  emitParticipants(plan, target::TailSplit(costs.getSum(), costs.getPiece(), costs.getFixed()), rewriter, loc);
  plan.whole = n.sub(count, plan.tail);
  return plan;
}

void tile::lowerToSegments(ProgramsOp programs, const TailPlan &plan, Value cta, RewriterBase &rewriter,
                           llvm::function_ref<void(Value)> emitCoordinates) {
  SegmentsLowering(programs, plan, cta, rewriter).run(emitCoordinates);
}
