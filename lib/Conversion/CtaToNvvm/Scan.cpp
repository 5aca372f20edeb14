// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans: first over the registers of a thread, in order, then over the lanes along the axis.
//
//   registers    x0 x1 x2 x3                 ->  x0, x0x1, x0x1x2, x0x1x2x3        the last one is the thread's total
//   lanes        totals t0 t1 t2 t3          ->  t0, t0t1, t0t1t2, t0t1t2t3        the last register's result
//   result       each other register combined with the total of the previous lane
//
// Over lanes: in step k, each lane combines the total of the lane 2^k positions before it with its own total, which
// then covers up to 2^(k+1) lanes (Hillis and Steele). Only totals move between lanes, so a step takes one shuffle,
// whatever the number of registers. cta-assign-layouts chooses a layout in which the axis lies in the low bits of the
// registers, then in lanes, then in warps. A scan over several warps has two parts, because cta-lower-conversions
// passes totals through shared memory between them: `partial_scan` computes the total of each warp, and `scan_carry`
// combines the totals of the preceding warps one by one.
#include "Combine.h"
#include "EmitLayout.h"
#include "Patterns.h"

#include "Layout/ShapeTransforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

/// The input bits that move along the axis, starting with the least significant one. The other register bits select
/// separate scans.
struct ScanPlan {
  std::vector<uint64_t> axisRegisters, otherRegisters;
  std::vector<unsigned> axisLanes, axisWarps;
  bool hasLanesFirst = false; ///< Neighbours are in consecutive lanes; the elements after those of the last lane are in
                              ///< the next register.
};

std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis, std::string &problem) {
  ScanPlan plan;
  std::map<int32_t, uint64_t> registers;
  std::map<int32_t, unsigned> lanes, warps;
  auto isAlong = [&](const std::vector<int32_t> &basis) {
    std::vector<int32_t> others = basis;
    others[axis] = 0;
    return basis[axis] != 0 && layout.flatten(others) == 0;
  };
  for (auto [bit, basis] : llvm::enumerate(layout.bases(layout::registerDim))) {
    if (basis[axis] == 0)
      plan.otherRegisters.push_back(uint64_t(1) << bit);
    else if (!isAlong(basis) || !registers.try_emplace(basis[axis], uint64_t(1) << bit).second)
      problem = "mixes the axis with other dimensions in registers";
  }
  for (auto [bit, basis] : llvm::enumerate(layout.bases(layout::laneDim)))
    if (basis[axis] != 0 && (!isAlong(basis) || !lanes.try_emplace(basis[axis], bit).second))
      problem = "mixes the axis with other dimensions in lanes";
  for (auto [bit, basis] : llvm::enumerate(layout.bases(layout::warpDim)))
    if (basis[axis] != 0 && (!isAlong(basis) || !warps.try_emplace(basis[axis], bit).second))
      problem = "mixes the axis with other dimensions in warps";
  for (auto [step, mask] : registers)
    plan.axisRegisters.push_back(mask);
  for (auto [step, bit] : lanes)
    plan.axisLanes.push_back(bit);
  for (auto [step, bit] : warps)
    plan.axisWarps.push_back(bit);
  auto isInOrder = [&](const auto &first, const auto &second) {
    std::vector<int32_t> steps;
    llvm::append_range(steps, llvm::make_first_range(first));
    llvm::append_range(steps, llvm::make_first_range(second));
    llvm::append_range(steps, llvm::make_first_range(warps));
    auto isNext = [](auto item) { return item.value() == int32_t(1) << item.index(); };
    return llvm::all_of(llvm::enumerate(steps), isNext) && int64_t(1) << steps.size() == layout.outShape()[axis];
  };
  plan.hasLanesFirst = !isInOrder(registers, lanes) && warps.empty() && isInOrder(lanes, registers);
  if (problem.empty() && !isInOrder(registers, lanes) && !plan.hasLanesFirst)
    problem = "does not hold the axis in the order of registers, then lanes, then warps, or of lanes, then registers";
  return problem.empty() ? std::optional(plan) : std::nullopt;
}

uint64_t select(const std::vector<uint64_t> &bits, size_t number) {
  uint64_t value = 0;
  for (size_t bit = 0; bit < bits.size(); ++bit)
    if (number >> bit & 1)
      value |= bits[bit];
  return value;
}

class ScanEmitter {
public:
  ScanEmitter(OpBuilder &builder, Location loc, Block &combineBlock, const ScanPlan &plan, bool isReverse)
      : builder(builder), loc(loc), emitter(builder, loc, combineBlock), plan(plan), isReverse(isReverse) {
    if (!plan.axisLanes.empty())
      lane = arith::AndIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 31));
  }

  /// Scans `tuples`, all the tuples of one thread, in the order of the axis.
  SmallVector<Tuple> run(SmallVector<Tuple> tuples) {
    if (isReverse)
      std::reverse(tuples.begin(), tuples.end());
    if (plan.hasLanesFirst) {
      scanEach(tuples);
    } else {
      for (size_t index = 1; index < tuples.size(); ++index)
        tuples[index] = emitter.combine(tuples[index - 1], tuples[index]);
      if (!plan.axisLanes.empty())
        addPrefix(tuples);
    }
    if (isReverse)
      std::reverse(tuples.begin(), tuples.end());
    return tuples;
  }

  /// Returns, in all lanes, the last result that `run` computed in the last lane along the axis.
  Tuple totalOf(ArrayRef<Tuple> tuples) {
    const Tuple &last = isReverse ? tuples.front() : tuples.back();
    if (plan.axisLanes.empty())
      return last;
    int64_t all = lanesAlongAxis();
    Value end = isReverse ? arith::AndIOp::create(builder, loc, lane, emitI32(builder, loc, ~all)).getResult()
                          : arith::OrIOp::create(builder, loc, lane, emitI32(builder, loc, all)).getResult();
    return emitter.shuffleFrom(last, end);
  }

  /// Combines `tuples` with the totals of the warps that precede this thread's warp.
  void addBefore(SmallVector<Tuple> &tuples, SmallVector<Tuple> totals) {
    std::vector<uint64_t> bases(layout::laneBits + plan.axisWarps.size() + 1, 0);
    for (auto [bit, warp] : llvm::enumerate(plan.axisWarps)) {
      bases.resize(std::max<size_t>(bases.size(), layout::laneBits + warp + 1), 0);
      bases[layout::laneBits + warp] = uint64_t(1) << bit;
    }
    Value warp = emitLinearMap(builder, loc, emitThreadId(builder, loc), bases);
    int64_t last = totals.size() - 1;
    if (isReverse) {
      std::reverse(totals.begin(), totals.end());
      warp = arith::SubIOp::create(builder, loc, emitI32(builder, loc, last), warp);
    }
    auto isAfter = [&](int64_t other) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, warp, emitI32(builder, loc, other));
    };
    Tuple sum = totals.front(), before = sum;
    for (int64_t other = 1; other < last; ++other) {
      sum = emitter.combine(sum, totals[other]);
      before = choose(isAfter(other), sum, before);
    }
    Value hasBefore = isAfter(0);
    for (Tuple &tuple : tuples)
      tuple = choose(hasBefore, emitter.combine(before, tuple), tuple);
  }

private:
  int64_t lanesAlongAxis() const {
    int64_t all = 0;
    for (unsigned bit : plan.axisLanes)
      all |= int64_t(1) << bit;
    return all;
  }
  Tuple choose(Value condition, const Tuple &a, const Tuple &b) {
    Tuple chosen;
    for (auto [x, y] : llvm::zip(a, b))
      chosen.push_back(arith::SelectOp::create(builder, loc, condition, x, y));
    return chosen;
  }

  /// Returns the number of lanes along the axis that precede this lane.
  Value emitPosition() {
    std::vector<uint64_t> bases(layout::laneBits, 0);
    for (auto [index, bit] : llvm::enumerate(plan.axisLanes))
      bases[bit] = uint64_t(1) << index;
    Value place = emitLinearMap(builder, loc, lane, bases);
    Value last = emitI32(builder, loc, (int64_t(1) << plan.axisLanes.size()) - 1);
    return isReverse ? arith::SubIOp::create(builder, loc, last, place).getResult() : place;
  }

  /// Returns the tuple of the lane that is `lanes` positions (a power of two) before this lane; `place` is the position
  /// of this lane. If there is no such lane, returns the tuple of an arbitrary lane.
  Tuple fetchBefore(const Tuple &tuple, Value place, int64_t lanes) {
    unsigned first = plan.axisLanes.front();
    auto isNext = [&](auto item) { return item.value() == first + item.index(); };
    if (llvm::all_of(llvm::enumerate(plan.axisLanes), isNext))
      return emitter.shuffleBy(tuple, lanes << first, /*isFromAbove=*/isReverse);
    std::vector<uint64_t> bases;
    for (unsigned bit : plan.axisLanes)
      bases.push_back(uint64_t(1) << bit);
    Value source = arith::SubIOp::create(builder, loc, place, emitI32(builder, loc, lanes));
    if (isReverse)
      source = arith::SubIOp::create(builder, loc, emitI32(builder, loc, (int64_t(1) << bases.size()) - 1), source);
    Value others = arith::AndIOp::create(builder, loc, lane, emitI32(builder, loc, ~lanesAlongAxis()));
    source = arith::OrIOp::create(builder, loc, emitLinearMap(builder, loc, source, bases), others);
    return emitter.shuffleFrom(tuple, source);
  }

  /// Scans each register over the lanes, and then combines it with the total of the preceding registers. One shuffle
  /// per register fetches this total from the last lane.
  void scanEach(SmallVector<Tuple> &tuples) {
    SmallVector<Tuple> totals;
    for (Tuple &tuple : tuples) {
      SmallVector<Tuple> alone{tuple};
      addPrefix(alone);
      tuple = alone.front();
      totals.push_back(totalOf(alone));
    }
    Tuple before;
    for (auto [index, tuple] : llvm::enumerate(tuples)) {
      if (index != 0)
        tuple = emitter.combine(before, tuple);
      before = index == 0 ? totals[index] : emitter.combine(before, totals[index]);
    }
  }

  void addPrefix(SmallVector<Tuple> &tuples) {
    Value place = emitPosition();
    auto hasBefore = [&](int64_t lanes) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, place, emitI32(builder, loc, lanes));
    };
    Tuple &total = tuples.back(); // covers 1, 2, 4 … lanes after each step
    for (size_t step = 0; step < plan.axisLanes.size(); ++step) {
      int64_t lanes = int64_t(1) << step;
      total = choose(hasBefore(lanes), emitter.combine(fetchBefore(total, place, lanes), total), total);
    }
    if (tuples.size() == 1)
      return;
    Tuple before = fetchBefore(total, place, 1);
    for (Tuple &tuple : MutableArrayRef(tuples).drop_back())
      tuple = choose(hasBefore(1), emitter.combine(before, tuple), tuple);
  }

  OpBuilder &builder;
  Location loc;
  CombineEmitter emitter;
  const ScanPlan &plan;
  bool isReverse;
  Value lane;
};

/// Returns, for each scan that a thread executes, its registers in the order of the axis.
std::vector<std::vector<size_t>> listScans(const ScanPlan &plan) {
  std::vector<std::vector<size_t>> scans(size_t(1) << plan.otherRegisters.size());
  for (auto [other, positions] : llvm::enumerate(scans))
    for (size_t along = 0; along < size_t(1) << plan.axisRegisters.size(); ++along)
      positions.push_back(select(plan.otherRegisters, other) | select(plan.axisRegisters, along));
  return scans;
}

Tuple tupleAt(ArrayRef<ValueRange> sources, size_t place) {
  Tuple tuple;
  for (ValueRange registers : sources)
    tuple.push_back(registers[place]);
  return tuple;
}

void setTuple(MutableArrayRef<Registers> results, size_t place, const Tuple &tuple) {
  for (auto [result, value] : llvm::zip(results, tuple))
    result[place] = value;
}

/// Returns a layout that maps each element to its scan, but not to its position in the scan.
LinearLayout withoutAxis(const LinearLayout &layout, unsigned axis) {
  std::vector<layout::InDim> dims = layout.inDims();
  for (layout::InDim &dim : dims)
    for (std::vector<int32_t> &basis : dim.bases)
      basis[axis] = 0;
  std::vector<int64_t> shape = layout.outShape();
  shape[axis] = 1;
  return LinearLayout(dims, shape);
}

/// Returns, for each register of `dst`, a register of `src` that belongs to the same scan.
std::optional<std::vector<int32_t>> sourcesOfScans(const LinearLayout &src, const LinearLayout &dst, unsigned axis) {
  return registerSources(withoutAxis(src, axis), withoutAxis(dst, axis));
}

/// Lowers a scan, or the first part of a scan over several warps.
template <typename OpType> struct ScanLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::string problem;
    const LinearLayout &layout = cta::getLayout(op.getSrcs().front().getType());
    std::optional<ScanPlan> plan = planScan(layout, op.getAxis(), problem);
    if (!plan)
      return rewriter.notifyMatchFailure(op, problem);
    ScanEmitter emitter(rewriter, op.getLoc(), op.getCombine().front(), *plan, op.getReverse());
    SmallVector<ValueRange> sources(adaptor.getSrcs());
    SmallVector<Registers> results(sources.size(), Registers(layout.numRegisters()));
    std::vector<Tuple> totals(layout.numRegisters());
    for (const std::vector<size_t> &positions : listScans(*plan)) {
      SmallVector<Tuple> tuples;
      for (size_t place : positions)
        tuples.push_back(tupleAt(sources, place));
      tuples = emitter.run(std::move(tuples));
      for (auto [place, tuple] : llvm::zip(positions, tuples))
        setTuple(results, place, tuple);
      if constexpr (std::is_same_v<OpType, cta::PartialScanOp>) {
        Tuple total = emitter.totalOf(tuples);
        for (size_t place : positions)
          totals[place] = total;
      }
    }
    if constexpr (std::is_same_v<OpType, cta::PartialScanOp>) {
      std::vector<int32_t> positions =
          *sourcesOfScans(layout, cta::getLayout(op.getTotals().front().getType()), op.getAxis());
      size_t first = results.size();
      results.append(first, Registers(positions.size()));
      for (auto [index, place] : llvm::enumerate(positions))
        setTuple(MutableArrayRef(results).drop_front(first), index, totals[place]);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct CarryLowering : OpConversionPattern<cta::ScanCarryOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ScanCarryOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::string problem;
    const LinearLayout &layout = cta::getLayout(op.getScans().front().getType());
    const LinearLayout &totalLayout = cta::getLayout(op.getTotals().front().getType());
    std::optional<ScanPlan> plan = planScan(layout, op.getAxis(), problem);
    if (!plan)
      return rewriter.notifyMatchFailure(op, problem);
    ScanEmitter emitter(rewriter, op.getLoc(), op.getCombine().front(), *plan, op.getReverse());
    std::vector<int32_t> rows = *sourcesOfScans(totalLayout, layout, op.getAxis());
    size_t warps = totalLayout.outShape()[op.getAxis()];
    SmallVector<ValueRange> operands(adaptor.getSrcs());
    ArrayRef<ValueRange> scans = ArrayRef(operands).take_front(op->getNumResults());
    SmallVector<Registers> results(scans.size(), Registers(layout.numRegisters()));
    for (const std::vector<size_t> &positions : listScans(*plan)) {
      SmallVector<Tuple> tuples, totals;
      for (size_t place : positions)
        tuples.push_back(tupleAt(scans, place));
      for (size_t warp = 0; warp < warps; ++warp)
        totals.push_back(
            tupleAt(ArrayRef(operands).drop_front(scans.size()), (rows[positions.front()] & ~(warps - 1)) | warp));
      emitter.addBefore(tuples, std::move(totals));
      for (auto [place, tuple] : llvm::zip(positions, tuples))
        setTuple(results, place, tuple);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Returns true if each thread holds the totals of all warps, in its lowest registers.
bool isGathered(const LinearLayout &totals, unsigned axis) {
  layout::Bases registers = totals.bases(layout::registerDim);
  unsigned bit = 0;
  for (; int64_t(1) << bit < totals.outShape()[axis]; ++bit) {
    std::vector<int32_t> step(totals.rank(), 0);
    step[axis] = 1 << bit;
    if (bit >= registers.size() || registers[bit] != step)
      return false;
  }
  return true;
}

} // namespace

static LogicalResult checkScan(Operation *op, const target::GpuTarget &) {
  auto scan = dyn_cast<ScanOp>(op);
  auto partial = dyn_cast<cta::PartialScanOp>(op);
  auto carry = dyn_cast<cta::ScanCarryOp>(op);
  ValueRange totals = partial ? ValueRange(partial.getTotals()) : carry ? ValueRange(carry.getTotals()) : ValueRange();
  unsigned axis = scan ? scan.getAxis() : partial ? partial.getAxis() : carry.getAxis();
  cta::LayoutAttr layout = cta::getLayoutAttr(op->getOperand(0).getType());
  cta::LayoutAttr totalLayout = totals.empty() ? cta::LayoutAttr() : cta::getLayoutAttr(totals.front().getType());
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values) {
    Type element = getElementTypeOf(value.getType());
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      return op->emitOpError() << "scans " << element << "; convert it to a wider type first";
    if (cta::getLayoutAttr(value.getType()) != (llvm::is_contained(totals, value) ? totalLayout : layout))
      return op->emitOpError() << "has operands and results of different layouts";
  }
  std::string problem;
  std::optional<ScanPlan> plan = planScan(layout.getLayout(), axis, problem);
  if (plan && scan && !plan->axisWarps.empty())
    problem = "spreads the axis over warps";
  if (!problem.empty())
    return op->emitOpError() << "layout of operand " << op->getOperand(0).getType() << " " << problem;
  if (scan)
    return success();
  int64_t warps = int64_t(1) << plan->axisWarps.size();
  const LinearLayout &ofTotals = totalLayout.getLayout();
  bool isFitting = ofTotals.outShape()[axis] == warps &&
                   (partial ? sourcesOfScans(layout.getLayout(), ofTotals, axis).has_value()
                            : isGathered(ofTotals, axis) && sourcesOfScans(ofTotals, layout.getLayout(), axis));
  if (!isFitting)
    return op->emitOpError() << "has totals " << totals.front().getType() << " that are not those of " << warps
                             << " warps along axis " << axis << " in the threads that need them";
  return success();
}

void registerScanLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ScanLowering<ScanOp>, ScanLowering<cta::PartialScanOp>, CarryLowering>(lowerings.converter,
                                                                                                lowerings.context);
  lowerings.check<ScanOp, cta::PartialScanOp, cta::ScanCarryOp>(checkScan);
}

} // namespace tile::conversion
