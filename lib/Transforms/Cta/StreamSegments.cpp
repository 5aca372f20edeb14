// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers programs of which CTAs share the last wave.
//
//   programs            |  T - 3        |  T - 2        |  T - 1        |
//   first steps         |  CTA h        |  CTA h + 1    |  CTA h + 2    |       owners
//   the others' ranges  |   CTA 0  |   CTA 1  |   CTA 2  | … |  CTA h - 1  |    helpers
//   pieces              |    0     | 1 |   2  | 3  | …                          program + helper
//
// A helper leaves its accumulator of each piece in global memory and sets a flag. The owner adds these to its own, in a
// fixed order (the result is the same in each run), and finishes the program. It waits for CTAs of lower number only,
// which were started before it and wait for nobody, so there is no deadlock even if not all run at once.
//
//   tile.programs (…, %first, %end) steps (%n) { A; for k = first … end: acc += …; B(combine acc) }
//   ==>
//   for segment of CTA { p, first, end = …; A; for k = first … end: acc += …
//                        if first == 0 { for each piece of p: wait; acc += its acc; B(acc) }
//                        else { leave acc; set flag } }
#include "Transforms/Cta/StreamSegments.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Target/TailSplit.h"
#include "Transforms/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

namespace {

/// A line of its own for the flag; the accumulators of the piece follow. There are fewer pieces than CTAs.
constexpr int64_t flagBytes = 128;

/// Consecutive numbers dealt out to CTAs: the first `longer` of them get size + 1, the others `size`.
struct Ranges {
  Value size, longer;

  Value firstOf(Value cta, Numbers &n) { return n.add(n.mul(cta, size), n.min(cta, longer)); }

  Value ctaOf(Value number, Numbers &n) {
    Value zero = n.constant(0), longSize = n.add(size, n.constant(1)), inLonger = n.mul(longer, longSize);
    Value isInLonger = n.less(number, inLonger);
    Value ctas = n.div(n.sub(number, n.select(isInLonger, zero, inLonger)), n.select(isInLonger, longSize, size));
    return n.add(n.select(isInLonger, zero, longer), ctas);
  }
};

/// How work is dealt out; all values are computed once, before the loop. A CTA's share of split programs is an owner's
/// first steps of one, or a helper's range, which may go over several.
struct Schedule {
  Value cta, ctas;
  Value steps;          ///< of a program, at least 1
  Value wholeOfThisCta; ///< programs that it does alone, before its share of split ones
  Value segments;       ///< these programs, and parts of split ones
  Value ownSteps;       ///< of each split program: its owner's, at least 1
  Value program, from;  ///< where this CTA's share begins
  Value share;          ///< and its steps
  Value pieces;         ///< that helpers leave for this owner
  Value pieceOffset;    ///< from a program to its piece: this helper's, or the last one for this owner
};

class Segments {
public:
  Segments(ProgramsOp programs, Value count, RewriterBase &rewriter, llvm::function_ref<void(Value)> emitPlace)
      : kernel(programs->getParentOfType<KernelOp>()), rewriter(rewriter), programs(programs), count(count),
        emitPlace(emitPlace), combines(programs.getBody().getOps<cta::CombineOp>()), loc(programs.getLoc()),
        split(programs.getWork().getTail().getSum(), programs.getWork().getTail().getPiece(),
              programs.getWork().getTail().getFixed()) {}

  void run() {
    Schedule schedule = emitSchedule();
    addScratch();
    emitSegments(schedule);
  }

private:
  Schedule emitSchedule() {
    Numbers n(rewriter, loc);
    Schedule s;
    Value one = n.constant(1), zero = n.constant(0);
    s.cta = ProgramIdOp::create(rewriter, loc, 0);
    s.ctas = NumProgramsOp::create(rewriter, loc, 0);
    s.steps = n.max(programs.getSteps(), one);
    Value waves = n.div(count, s.ctas), tail = n.sub(count, n.mul(waves, s.ctas));
    auto [isSplit, participants] = emitParticipants(s, waves, tail);
    Value isInTail = n.select(n.less(s.cta, tail), one, zero);
    s.wholeOfThisCta = n.add(waves, n.select(isSplit, zero, isInTail));
    emitShare(s, isSplit, participants, tail, /*wholePrograms=*/n.sub(count, tail));
    return s;
  }

  /// Whether the last `tail` programs are split, and among how many CTAs; sets s.ownSteps. target::TailSplit::share()
  /// in IR. Divisions take long; small problems must not wait for them.
  std::pair<Value, Value> emitParticipants(Schedule &s, Value waves, Value tail) {
    Numbers n(rewriter, loc);
    Value zero = n.constant(0), one = n.constant(1);
    Value mayPay = n.both(n.less(zero, tail), n.both(n.less(n.constant(split.leastSteps()), s.steps),
                                                     n.less(s.steps, n.constant(split.mostSteps))));
    Type i32 = rewriter.getI32Type(), i1 = rewriter.getI1Type();
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange{i1, i32, i32}, mayPay, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value parts = one, partSteps = s.steps;
    for (int64_t more = 2; more <= split.maxParts; ++more) {
      Value count = n.constant(more);
      Value isWorthIt = n.less(n.constant(split.stepsFor(more) - 1), s.steps);
      Value hasCtas = n.less(n.mul(tail, count), n.add(s.ctas, one));
      Value fits = n.both(isWorthIt, hasCtas);
      parts = n.select(fits, count, parts);
      partSteps = n.select(fits, n.div(s.steps, count), partSteps);
    }
    Value others = n.sub(parts, one), hasParts = n.less(zero, others);
    Value ownPart = n.sub(s.steps, n.mul(others, partSteps));
    Value ownShare = n.ceilDiv(n.mul(tail, n.add(s.steps, n.constant(split.piece))), s.ctas);
    Value own = n.select(hasParts, ownPart, ownShare);
    Value lost = n.add(n.mul(n.max(others, one), n.constant(split.sum)), n.constant(split.fixed));
    Value factor = n.select(n.less(zero, waves), one, n.constant(split.onlyWave));
    Value pays = n.less(n.add(own, n.mul(lost, factor)), s.steps);
    Value participants = n.select(hasParts, n.mul(tail, parts), s.ctas);
    scf::YieldOp::create(rewriter, loc, ValueRange{pays, participants, own});
    rewriter.setInsertionPointToStart(branch.elseBlock());
    Value no = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
    scf::YieldOp::create(rewriter, loc, ValueRange{no, zero, s.steps});
    s.ownSteps = branch.getResult(2);
    return {branch.getResult(0), branch.getResult(1)};
  }

  void emitShare(Schedule &s, Value isSplit, Value participants, Value tail, Value wholePrograms) {
    Numbers n(rewriter, loc);
    Value one = n.constant(1), zero = n.constant(0);
    SmallVector<Type> types(6, rewriter.getI32Type());
    auto branch = scf::IfOp::create(rewriter, loc, types, isSplit, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    // The first CTAs help; owners follow.
    Value helpers = n.sub(participants, tail), others = n.sub(s.steps, s.ownSteps);
    Value isHelper = n.less(s.cta, helpers);
    Value work = n.mul(tail, others), size = n.div(work, helpers);
    Ranges ranges{size, n.sub(work, n.mul(size, helpers))};
    Value first = ranges.firstOf(s.cta, n), end = ranges.firstOf(n.add(s.cta, one), n);
    Value firstIndex = n.div(first, others), lastIndex = n.div(n.sub(end, one), others);
    // Of all other CTAs, too, some program's owner, so that no division is by zero.
    Value owned = n.select(isHelper, zero, n.min(n.sub(s.cta, helpers), n.sub(tail, one)));
    Value begin = n.mul(owned, others);
    Value firstHelper = ranges.ctaOf(begin, n), lastHelper = ranges.ctaOf(n.sub(n.add(begin, others), one), n);

    Value parts =
        n.select(isHelper, n.add(n.sub(lastIndex, firstIndex), one), n.select(n.less(s.cta, participants), one, zero));
    Value program = n.add(wholePrograms, n.select(isHelper, firstIndex, owned));
    Value from = n.select(isHelper, n.add(s.ownSteps, n.sub(first, n.mul(firstIndex, others))), zero);
    Value share = n.select(isHelper, n.sub(end, first), s.ownSteps);
    Value pieces = n.add(n.sub(lastHelper, firstHelper), one);
    Value pieceOffset = n.sub(n.select(isHelper, s.cta, lastHelper), wholePrograms);
    scf::YieldOp::create(rewriter, loc,
                         ValueRange{n.add(s.wholeOfThisCta, parts), program, from, share, pieces, pieceOffset});
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, ValueRange{s.wholeOfThisCta, zero, zero, zero, zero, zero});
    s.segments = branch.getResult(0);
    s.program = branch.getResult(1);
    s.from = branch.getResult(2);
    s.share = branch.getResult(3);
    s.pieces = branch.getResult(4);
    s.pieceOffset = branch.getResult(5);
  }

  static int64_t bytesOf(cta::CombineOp combine) {
    auto type = cast<RankedTensorType>(combine.getType());
    size_t registers = cta::registersInColumns(type, combine.getColumns()).size();
    return registers * cta::getLayout(type).numWarps() * target::threadsPerWarp * 4;
  }

  /// Of one piece.
  int64_t scratchBytes() {
    int64_t bytes = flagBytes;
    for (cta::CombineOp combine : combines)
      bytes += bytesOf(combine);
    return bytes;
  }

  void addScratch() {
    unsigned index = kernel.getNumArguments();
    auto attributes = rewriter.getDictionaryAttr(
        rewriter.getNamedAttr(KernelOp::getScratchAttrName(), rewriter.getI64IntegerAttr(scratchBytes())));
    auto type = PtrType::get(kernel.getContext(), rewriter.getI8Type());
    (void)kernel.insertArgument(index, type, attributes, loc);
    scratch = kernel.getArgument(index);
  }

  /// A piece's part of the scratch, from `offset` bytes on.
  Value emitScratch(Value piece, int64_t offset) {
    Type i64 = rewriter.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(value));
    };
    Value bytes = arith::MulIOp::create(rewriter, loc, arith::ExtUIOp::create(rewriter, loc, i64, piece),
                                        constant(scratchBytes()));
    if (offset != 0)
      bytes = arith::AddIOp::create(rewriter, loc, bytes, constant(offset));
    return AddPtrOp::create(rewriter, loc, scratch, bytes);
  }

  void emitSegments(const Schedule &s) {
    Numbers n(rewriter, loc);
    Value zero = n.constant(0), one = n.constant(1);
    auto segments = scf::ForOp::create(rewriter, loc, zero, s.segments, one, ValueRange{s.program, s.from, s.share});

    // Which program, and which of its steps.
    rewriter.setInsertionPointToStart(segments.getBody());
    Value number = segments.getInductionVar();
    ValueRange next = segments.getRegionIterArgs();
    Value isWhole = n.less(number, s.wholeOfThisCta);
    auto segment = scf::IfOp::create(rewriter, loc, SmallVector<Type>(6, rewriter.getI32Type()), isWhole,
                                     /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(segment.thenBlock());
      Value whole = n.add(s.cta, n.mul(number, s.ctas));
      scf::YieldOp::create(rewriter, loc, ValueRange{whole, zero, s.steps, next[0], next[1], next[2]});
      rewriter.setInsertionPointToStart(segment.elseBlock());
      Value shared = next[0], from = next[1], share = next[2], to = n.min(s.steps, n.add(from, share));
      scf::YieldOp::create(rewriter, loc,
                           ValueRange{shared, from, to, n.add(shared, one), s.ownSteps, n.sub(share, n.sub(to, from))});
    }
    Value program = segment.getResult(0), from = segment.getResult(1), to = segment.getResult(2);

    // The program, with only these steps.
    emitPlace(program);
    programs.getFirstStep().replaceAllUsesWith(from);
    programs.getEndStep().replaceAllUsesWith(to);
    Block &body = programs.getBody().front();
    Operation *end = body.getTerminator();
    segments.getBody()->getOperations().splice(segments.getBody()->end(), body.getOperations(), body.begin(),
                                               combines.front()->getIterator());

    rewriter.setInsertionPointToEnd(segments.getBody());
    auto branch = scf::IfOp::create(rewriter, loc, n.equal(from, zero), /*withElseRegion=*/true);
    scf::YieldOp::create(rewriter, loc, segment.getResults().drop_front(3));

    rewriter.setInsertionPointToStart(branch.thenBlock());
    for (auto [combine, sum] : llvm::zip_equal(combines, emitSumsOfPieces(s, program, isWhole)))
      rewriter.replaceAllUsesWith(combine.getResult(), sum);
    Block *finish = branch.thenBlock();
    finish->getOperations().splice(finish->getTerminator()->getIterator(), body.getOperations(),
                                   std::next(combines.back()->getIterator()), end->getIterator());

    rewriter.setInsertionPointToStart(branch.elseBlock());
    Value piece = n.add(program, s.pieceOffset);
    int64_t offset = flagBytes;
    for (cta::CombineOp combine : combines) {
      cta::PartialStoreOp::create(rewriter, loc, combine.getValue(), emitScratch(piece, offset),
                                  combine.getColumnsAttr());
      offset += bytesOf(combine);
    }
    cta::BarrierOp::create(rewriter, loc, /*warps=*/IntegerAttr(), /*groups=*/false);
    cta::FlagSetOp::create(rewriter, loc, emitScratch(piece, 0));
    rewriter.eraseOp(programs);
  }

  /// What the owner did, and what its helpers did. A helper's first piece is a program's last, so these come first.
  ValueRange emitSumsOfPieces(const Schedule &s, Value program, Value isWhole) {
    Numbers n(rewriter, loc);
    Value zero = n.constant(0), one = n.constant(1);
    Value count = n.select(isWhole, zero, s.pieces);
    SmallVector<Value> own;
    for (cta::CombineOp combine : combines)
      own.push_back(combine.getValue());
    auto loop = scf::ForOp::create(rewriter, loc, zero, count, one, own);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value piece = n.sub(n.add(program, s.pieceOffset), loop.getInductionVar());
    cta::FlagWaitOp::create(rewriter, loc, emitScratch(piece, 0));
    cta::BarrierOp::create(rewriter, loc, /*warps=*/IntegerAttr(), /*groups=*/false);
    SmallVector<Value> sums;
    int64_t offset = flagBytes;
    for (auto [combine, sum] : llvm::zip_equal(combines, loop.getRegionIterArgs())) {
      sums.push_back(
          cta::PartialAddOp::create(rewriter, loc, sum, emitScratch(piece, offset), combine.getColumnsAttr()));
      offset += bytesOf(combine);
    }
    scf::YieldOp::create(rewriter, loc, sums);
    return loop.getResults();
  }

  KernelOp kernel;
  RewriterBase &rewriter;
  ProgramsOp programs;
  Value count;
  llvm::function_ref<void(Value)> emitPlace;
  SmallVector<cta::CombineOp> combines; ///< In a row.
  Location loc;
  target::TailSplit split;
  Value scratch;
};

} // namespace

void tile::lowerToSegments(ProgramsOp programs, Value count, RewriterBase &rewriter,
                           llvm::function_ref<void(Value)> emitPlace) {
  Segments(programs, count, rewriter, emitPlace).run();
}
