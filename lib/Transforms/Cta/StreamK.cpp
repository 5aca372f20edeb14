// cta-stream-k: split the products of the last programs among all CTAs.
//
// A persistent kernel of T programs on G CTAs takes ceil(T / G) rounds, though the last one may be nearly empty. Where
// that wastes much, the last full round and the rest are not dealt out by programs but by steps of their k loops: each
// CTA gets an equal range of consecutive steps, which may begin or end inside of a program:
//
//   steps of programs       |  program 132      |  program 133      |  program 134      | …
//   ranges of CTAs          |   CTA 131    |   CTA 130    |   CTA 129    |   CTA 128    | …
//
// A CTA that begins inside of a program leaves its partial sum in global memory and sets a flag. The CTA that has the
// program's first step adds the others' sums to its own, in order (the result is the same in each run), and finishes
// the program. It waits for CTAs of lower number only, which were started before it, so there is no deadlock even if
// not all run at once; and they did that part first, so it seldom waits.
//
//   for p = CTA; p < T; p += G { A; for k = 0 … S: acc += …; B(acc) }
//   ==>
//   for segment of CTA { p, first, last = …; A; for k = first … last: acc += …
//                        if first == 0 { for each peer: wait; acc += its sum; B(acc) } else { leave acc; set flag } }
//
// Stream-K: Osama et al., "Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU"
// (2023).
#include "Analysis/ProductPrograms.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_CTASTREAMK
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The fewest steps that a CTA takes part for.
constexpr int64_t leastSteps = 4;
/// What splitting costs (fitted on an H200): clocks to deal out the work and to wait, and bytes a clock at which each
/// multiprocessor writes and reads sums; and products of 16-bit numbers that one does in a clock.
constexpr int64_t splitClocks = 9000, sumBytesPerClock = 30, productsPerClock = 2048;
/// Whole rounds read the same rows and columns at the same time; ranges do not, so the operands must lie in the L2
/// cache (60 MB on an H200, less what else is there): 4096x8192x28672 lost 13 %.
constexpr int64_t operandBytesInCache = 48000000;
/// How much more it costs where there are fewer programs than CTAs.
constexpr int64_t manyParts = 3;
/// A step of at least this many clocks: 128x128 by 64.
constexpr int64_t leastStepClocks = 512;
/// Each CTA's scratch: a flag in a line of its own, then the sum.
constexpr int64_t flagBytes = 128;

using StreamPlan = ProductPrograms;

/// Elements of the sum that are computed.
int64_t elementsOf(StreamPlan plan) {
  return plan.getSumType().getDimSize(0) * plan.getProduct().getB().getType().getShape()[1];
}

/// Clocks that one step takes at least.
int64_t stepClocksOf(StreamPlan plan) {
  return elementsOf(plan) * plan.getProduct().getB().getType().getShape()[0] / productsPerClock;
}

/// Small blocks are chosen for small problems, which would wait longer for the schedule than they gain.
std::optional<StreamPlan> planStream(KernelOp kernel) {
  // Teams take programs in turns, not parts of them.
  if (kernel.getPingPong())
    return std::nullopt;
  // Scratch memory of tensor maps: a kernel has one.
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (kernel.getArgAttr(index, KernelOp::getScratchAttrName()))
      return std::nullopt;
  std::optional<StreamPlan> plan = findProductPrograms(kernel);
  return plan && stepClocksOf(*plan) >= leastStepClocks ? plan : std::nullopt;
}

/// How work is dealt out; all values are computed once, before the loop.
struct Schedule {
  Value cta, ctas;
  Value stepsPerProgram;   ///< at least 1
  Value wholePrograms;     ///< programs that one CTA does alone; the others are split
  Value wholeOfThisCta;    ///< how many of them this CTA does
  Value range, longer;     ///< the first `longer` ranges have range + 1 steps, the others `range`
  Value index, first, end; ///< this CTA's range: its number, and its steps
  Value segments;          ///< programs and parts of programs of this CTA
};

class StreamK {
public:
  StreamK(KernelOp kernel, StreamPlan plan)
      : kernel(kernel), rewriter(kernel.getContext()), plan(plan), programs(plan.programs), steps(plan.steps),
        loc(plan.programs.getLoc()) {}

  /// False if the number of steps is not the same for all programs.
  bool run() {
    rewriter.setInsertionPoint(programs);
    Value lower = hoistOutOf(programs, steps.getLowerBound(), rewriter),
          upper = hoistOutOf(programs, steps.getUpperBound(), rewriter),
          step = hoistOutOf(programs, steps.getStep(), rewriter);
    if (!lower || !upper || !step)
      return false;
    Schedule schedule = emitSchedule(lower, upper, step);
    addScratch();
    emitSegments(schedule, lower, step);
    return true;
  }

private:
  Schedule emitSchedule(Value lower, Value upper, Value step) {
    Numbers n(rewriter, loc);
    Schedule s;
    Value one = n.constant(1), zero = n.constant(0);
    s.cta = programs.getLowerBound();
    s.ctas = programs.getStep();
    Value count = programs.getUpperBound();
    Value steps = n.ceilDiv(n.max(n.sub(upper, lower), zero), step);
    s.stepsPerProgram = n.max(steps, one);
    Value rounds = n.div(count, s.ctas), rest = n.sub(count, n.mul(rounds, s.ctas));
    // The last round leaves ctas - rest CTAs idle for `steps` steps; split among all, that is the gain of each.
    Value idle = n.mul(steps, n.sub(s.ctas, rest));
    // Fewer programs than CTAs are cut into several parts, whose sums one CTA adds up.
    Value gain = n.select(n.less(zero, rounds), n.constant(leastGain()), n.constant(leastGain() * manyParts));
    Value pays = n.both(n.less(zero, rest), n.less(n.mul(s.ctas, gain), idle));
    pays = n.both(pays, emitFitsCache(count, steps));
    // With one full round more, each CTA has at least a program's steps, and no program is cut into many parts.
    Value split = n.add(rest, n.select(n.less(zero, rounds), s.ctas, zero));
    split = n.select(pays, split, zero);
    s.wholePrograms = n.sub(count, split);
    // Whole rounds, or all programs, of which the last round has `rest`.
    Value wholeRounds = n.max(n.sub(rounds, one), zero);
    Value all = n.add(rounds, n.select(n.less(s.cta, rest), one, zero));
    s.wholeOfThisCta = n.select(pays, wholeRounds, all);
    emitRanges(s, pays, split, steps);
    return s;
  }

  /// The operands of `count` programs, if these make up a square: 2 sqrt(count * elements) rows and columns of all k.
  /// The shape of the grid does not tell which axis is which.
  Value emitFitsCache(Value count, Value steps) {
    cta::BufferType b = plan.getProduct().getB().getType();
    double bytesOfStep = 2.0 * b.getShape()[0] * getBytesInMemory(b.getElementType());
    double most = double(operandBytesInCache) * operandBytesInCache / (bytesOfStep * bytesOfStep);
    Value limit =
        arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(int64_t(most / elementsOf(plan))));
    Type i64 = rewriter.getI64Type();
    Value wideSteps = arith::ExtUIOp::create(rewriter, loc, i64, steps);
    Value size = arith::MulIOp::create(rewriter, loc, wideSteps, wideSteps);
    size = arith::MulIOp::create(rewriter, loc, size, arith::ExtUIOp::create(rewriter, loc, i64, count));
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle, size, limit);
  }

  /// Divisions take long; small problems, which do not split, must not wait for them.
  void emitRanges(Schedule &s, Value pays, Value split, Value steps) {
    SmallVector<Type> types(6, rewriter.getI32Type());
    auto branch = scf::IfOp::create(rewriter, loc, types, pays, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Numbers n(rewriter, loc);
    Value one = n.constant(1), zero = n.constant(0);
    Value work = n.mul(split, steps);
    Value takers = n.min(s.ctas, n.max(n.div(work, n.constant(leastSteps)), one));
    Value range = n.div(work, takers), longer = n.sub(work, n.mul(range, takers));
    Value index = n.sub(n.sub(takers, one), s.cta);
    Value first = n.add(n.mul(index, range), n.min(index, longer));
    Value end = n.add(n.add(first, range), n.select(n.less(index, longer), one, zero));
    Value parts = n.add(n.sub(n.div(n.sub(end, one), steps), n.div(first, steps)), one);
    Value segments = n.add(s.wholeOfThisCta, n.select(n.less(s.cta, takers), parts, zero));
    scf::YieldOp::create(rewriter, loc, ValueRange{range, longer, index, first, end, segments});
    rewriter.setInsertionPointToStart(branch.elseBlock());
    zero = n.constant(0);
    scf::YieldOp::create(rewriter, loc, ValueRange{zero, zero, zero, zero, zero, s.wholeOfThisCta});
    s.range = branch.getResult(0);
    s.longer = branch.getResult(1);
    s.index = branch.getResult(2);
    s.first = branch.getResult(3);
    s.end = branch.getResult(4);
    s.segments = branch.getResult(5);
  }

  /// Steps that each CTA must gain before it pays to move sums.
  int64_t leastGain() {
    int64_t stepClocks = stepClocksOf(plan), sumClocks = 2 * elementsOf(plan) * 4 / sumBytesPerClock;
    return llvm::divideCeil(splitClocks + sumClocks, stepClocks);
  }

  RankedTensorType sumType() { return plan.getSumType(); }

  int64_t scratchBytes() {
    IntegerAttr columns = plan.getProduct().getColumnsAttr();
    size_t registers =
        cta::registersInColumns(sumType(), columns ? std::optional(columns.getInt()) : std::nullopt).size();
    return flagBytes + registers * cta::getLayout(sumType()).numWarps() * target::threadsPerWarp * 4;
  }

  void addScratch() {
    unsigned index = kernel.getNumArguments();
    auto attributes = rewriter.getDictionaryAttr(
        rewriter.getNamedAttr(KernelOp::getScratchAttrName(), rewriter.getI64IntegerAttr(scratchBytes())));
    auto type = PtrType::get(kernel.getContext(), rewriter.getI8Type());
    (void)kernel.insertArgument(index, type, attributes, loc);
    scratch = kernel.getArgument(index);
  }

  /// A CTA's part of the scratch, from `offset` bytes on.
  Value emitScratch(Value cta, int64_t offset) {
    Type i64 = rewriter.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(value));
    };
    Value bytes =
        arith::MulIOp::create(rewriter, loc, arith::ExtUIOp::create(rewriter, loc, i64, cta), constant(scratchBytes()));
    if (offset != 0)
      bytes = arith::AddIOp::create(rewriter, loc, bytes, constant(offset));
    return AddPtrOp::create(rewriter, loc, scratch, bytes);
  }

  void emitSegments(const Schedule &s, Value lower, Value step) {
    Numbers n(rewriter, loc);
    Value zero = n.constant(0), one = n.constant(1);
    auto segments = scf::ForOp::create(rewriter, loc, zero, s.segments, one, ValueRange{s.first});
    Operation *afterSteps = steps->getNextNode();

    // Which program, and which of its steps.
    rewriter.setInsertionPointToStart(segments.getBody());
    Value number = segments.getInductionVar(), next = segments.getRegionIterArg(0);
    Value isWhole = n.less(number, s.wholeOfThisCta);
    auto segment = scf::IfOp::create(rewriter, loc, SmallVector<Type>(4, rewriter.getI32Type()), isWhole,
                                     /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(segment.thenBlock());
      Value program = n.add(s.cta, n.mul(number, s.ctas));
      scf::YieldOp::create(rewriter, loc, ValueRange{program, n.constant(0), s.stepsPerProgram, next});
      rewriter.setInsertionPointToStart(segment.elseBlock());
      Value part = n.div(next, s.stepsPerProgram), from = n.sub(next, n.mul(part, s.stepsPerProgram));
      Value to = n.min(s.stepsPerProgram, n.add(from, n.sub(s.end, next)));
      Value following = n.add(next, n.sub(to, from));
      scf::YieldOp::create(rewriter, loc, ValueRange{n.add(s.wholePrograms, part), from, to, following});
    }
    Value program = segment.getResult(0), from = segment.getResult(1), to = segment.getResult(2);
    Value following = segment.getResult(3);

    // The program, with only these steps. All programs have as many, so a whole one ends where it did.
    SmallVector<Operation *> before, after;
    for (Operation &op : programs.getBody()->without_terminator())
      (after.empty() && &op != afterSteps ? before : after).push_back(&op);
    programs.getInductionVar().replaceAllUsesWith(program);
    for (Operation *op : before)
      op->moveBefore(segments.getBody(), segments.getBody()->end());
    rewriter.setInsertionPoint(steps);
    Value begin = n.add(lower, n.mul(from, step)), end = n.add(lower, n.mul(to, step));
    steps.setLowerBound(begin);
    steps.setUpperBound(n.min(end, steps.getUpperBound()));

    rewriter.setInsertionPointToEnd(segments.getBody());
    auto branch = scf::IfOp::create(rewriter, loc, n.equal(from, zero), /*withElseRegion=*/true);
    scf::YieldOp::create(rewriter, loc, following);

    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value sum = emitSumOfPeers(s, program, isWhole);
    steps.getResult(0).replaceUsesWithIf(sum,
                                         [&](OpOperand &use) { return llvm::is_contained(after, ancestorIn(use)); });
    for (Operation *op : after)
      op->moveBefore(branch.thenBlock()->getTerminator());

    rewriter.setInsertionPointToStart(branch.elseBlock());
    cta::PartialStoreOp::create(rewriter, loc, steps.getResult(0), emitScratch(s.cta, flagBytes),
                                plan.getProduct().getColumnsAttr());
    cta::BarrierOp::create(rewriter, loc, /*warps=*/IntegerAttr(), /*groups=*/false);
    cta::FlagSetOp::create(rewriter, loc, emitScratch(s.cta, 0));
    rewriter.eraseOp(programs);
  }

  Operation *ancestorIn(OpOperand &use) { return programs.getBody()->findAncestorOpInBlock(*use.getOwner()); }

  /// The program's other steps were done by the CTAs whose ranges follow: those of the next lower numbers.
  Value emitSumOfPeers(const Schedule &s, Value program, Value isWhole) {
    Numbers n(rewriter, loc);
    auto count = scf::IfOp::create(rewriter, loc, TypeRange{rewriter.getI32Type()}, isWhole, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(count.thenBlock());
      scf::YieldOp::create(rewriter, loc, n.constant(0));
      rewriter.setInsertionPointToStart(count.elseBlock());
      Value one = n.constant(1);
      Value lastStep = n.sub(n.mul(n.add(n.sub(program, s.wholePrograms), one), s.stepsPerProgram), one);
      // The range that contains a step: the longer ones come first.
      Value longRange = n.add(s.range, one), inLonger = n.mul(s.longer, longRange);
      Value last = n.select(n.less(lastStep, inLonger), n.div(lastStep, longRange),
                            n.add(s.longer, n.div(n.sub(lastStep, inLonger), n.max(s.range, one))));
      scf::YieldOp::create(rewriter, loc, n.max(n.sub(last, s.index), n.constant(0)));
    }
    Value peers = count.getResult(0), one = n.constant(1), zero = n.constant(0);

    auto loop = scf::ForOp::create(rewriter, loc, zero, peers, one, ValueRange{steps.getResult(0)});
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value peer = n.sub(n.sub(s.cta, one), loop.getInductionVar());
    cta::FlagWaitOp::create(rewriter, loc, emitScratch(peer, 0));
    cta::BarrierOp::create(rewriter, loc, /*warps=*/IntegerAttr(), /*groups=*/false);
    Value sum = cta::PartialAddOp::create(rewriter, loc, loop.getRegionIterArg(0), emitScratch(peer, flagBytes),
                                          plan.getProduct().getColumnsAttr());
    scf::YieldOp::create(rewriter, loc, sum);
    return loop.getResult(0);
  }

  KernelOp kernel;
  IRRewriter rewriter;
  StreamPlan plan;
  scf::ForOp programs, steps;
  Location loc;
  Value scratch;
};

struct CtaStreamK : tile::impl::CtaStreamKBase<CtaStreamK> {
  void runOnOperation() override {
    std::optional<StreamPlan> plan = planStream(getOperation());
    if (plan)
      StreamK(getOperation(), *plan).run();
  }
};

} // namespace
