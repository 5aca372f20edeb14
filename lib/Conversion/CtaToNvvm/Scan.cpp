// Scans: over the registers of a thread in order, then over the lanes along the axis.
//
//   registers    x0 x1 x2 x3                 ->  x0, x0x1, x0x1x2, x0x1x2x3        the last one is the thread's total
//   lanes        totals t0 t1 t2 t3          ->  before each lane: -, t0, t0t1, t0t1t2
//   result       each register combined with what lies before its lane
//
// Over lanes: in step k the lanes whose bit k along the axis is set take the total of the lane that ends the block
// below. Only totals move, so a step is one shuffle whatever the number of registers. The axis lies in the low bits of
// the registers, then in lanes, never in warps: cta-assign-layouts chooses such a layout.
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

/// Bits along the axis, from the least significant one on; the other register bits select scans of their own.
struct ScanPlan {
  std::vector<uint64_t> axisRegisters, otherRegisters;
  std::vector<unsigned> axisLanes;
};

std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis, std::string &problem) {
  ScanPlan plan;
  std::map<int32_t, uint64_t> registers;
  std::map<int32_t, unsigned> lanes;
  auto isAlong = [&](const std::vector<int32_t> &basis) {
    std::vector<int32_t> rest = basis;
    rest[axis] = 0;
    return basis[axis] != 0 && layout.flatten(rest) == 0;
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
  for (const std::vector<int32_t> &basis : layout.bases(layout::warpDim))
    if (basis[axis] != 0)
      problem = "spreads the axis over warps";
  int32_t expected = 1;
  for (auto [step, mask] : registers) {
    plan.axisRegisters.push_back(mask);
    expected = step == expected ? 2 * expected : 0;
  }
  for (auto [step, bit] : lanes) {
    plan.axisLanes.push_back(bit);
    expected = step == expected ? 2 * expected : 0;
  }
  if (problem.empty() && expected != layout.outShape()[axis])
    problem = "does not hold the axis in the order of registers, then lanes";
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

  /// `tuples` in the order of the axis, all of one thread.
  SmallVector<Tuple> run(SmallVector<Tuple> tuples) {
    if (isReverse)
      std::reverse(tuples.begin(), tuples.end());
    for (size_t index = 1; index < tuples.size(); ++index)
      tuples[index] = emitter.combine(tuples[index - 1], tuples[index]);
    if (!plan.axisLanes.empty())
      addPrefix(tuples);
    if (isReverse)
      std::reverse(tuples.begin(), tuples.end());
    return tuples;
  }

private:
  Value isNonZero(Value bits, int64_t mask) {
    Value masked = arith::AndIOp::create(builder, loc, bits, emitI32(builder, loc, mask));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked, emitI32(builder, loc, 0));
  }
  Tuple choose(Value condition, const Tuple &a, const Tuple &b) {
    Tuple chosen;
    for (auto [x, y] : llvm::zip(a, b))
      chosen.push_back(arith::SelectOp::create(builder, loc, condition, x, y));
    return chosen;
  }

  void addPrefix(SmallVector<Tuple> &tuples) {
    // Reversed, lanes count down: the complement of their number along the axis.
    int64_t all = 0;
    for (unsigned bit : plan.axisLanes)
      all |= int64_t(1) << bit;
    Value place = isReverse ? arith::XOrIOp::create(builder, loc, lane, emitI32(builder, loc, all)) : lane;
    Tuple total = tuples.back(), before = total; // `before` counts only where a lower bit of the place is set
    int64_t lower = 0;
    for (unsigned bit : plan.axisLanes) {
      int64_t mask = int64_t(1) << bit;
      // The end of the block below: this bit cleared, lower ones set.
      Value source = arith::AndIOp::create(builder, loc, place, emitI32(builder, loc, ~(mask | lower)));
      source = arith::OrIOp::create(builder, loc, source, emitI32(builder, loc, lower));
      if (isReverse)
        source = arith::XOrIOp::create(builder, loc, source, emitI32(builder, loc, all));
      Tuple below = emitter.shuffleFrom(total, source);
      Value isAbove = isNonZero(place, mask);
      Tuple longer = lower ? choose(isNonZero(place, lower), emitter.combine(below, before), below) : below;
      before = choose(isAbove, longer, before);
      total = choose(isAbove, emitter.combine(below, total), total);
      lower |= mask;
    }
    Value hasBefore = isNonZero(place, all);
    for (Tuple &tuple : tuples)
      tuple = choose(hasBefore, emitter.combine(before, tuple), tuple);
  }

  OpBuilder &builder;
  Location loc;
  CombineEmitter emitter;
  const ScanPlan &plan;
  bool isReverse;
  Value lane;
};

struct ScanLowering : OpConversionPattern<ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScanOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::string problem;
    const LinearLayout &layout = cta::getLayout(op.getSrcs().front().getType());
    std::optional<ScanPlan> plan = planScan(layout, op.getAxis(), problem);
    if (!plan)
      return rewriter.notifyMatchFailure(op, problem);
    ScanEmitter emitter(rewriter, op.getLoc(), op.getCombine().front(), *plan, op.getReverse());
    SmallVector<Registers> results(op->getNumResults(), Registers(layout.numRegisters()));
    for (size_t other = 0; other < size_t(1) << plan->otherRegisters.size(); ++other) {
      SmallVector<Tuple> tuples;
      SmallVector<size_t> places;
      for (size_t along = 0; along < size_t(1) << plan->axisRegisters.size(); ++along) {
        places.push_back(select(plan->otherRegisters, other) | select(plan->axisRegisters, along));
        Tuple &tuple = tuples.emplace_back();
        for (ValueRange registers : adaptor.getSrcs())
          tuple.push_back(registers[places.back()]);
      }
      tuples = emitter.run(std::move(tuples));
      for (auto [place, tuple] : llvm::zip(places, tuples))
        for (auto [result, value] : llvm::zip(results, tuple))
          result[place] = value;
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

static LogicalResult checkScan(ScanOp op, const target::GpuTarget &) {
  cta::LayoutAttr layout = cta::getLayoutAttr(op.getSrcs().front().getType());
  for (Type type :
       llvm::concat<Type>(SmallVector<Type>(op.getOperandTypes()), SmallVector<Type>(op.getResultTypes()))) {
    Type element = getElementTypeOf(type);
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      return op.emitOpError() << "scans " << element << "; convert it to a wider type first";
    if (cta::getLayoutAttr(type) != layout)
      return op.emitOpError() << "has operands and results of different layouts";
  }
  std::string problem;
  if (planScan(layout.getLayout(), op.getAxis(), problem))
    return success();
  return op.emitOpError() << "layout of operand " << op.getOperand(0).getType() << " " << problem;
}

void registerScanLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ScanLowering>(lowerings.converter, lowerings.context);
  lowerings.check<ScanOp>(checkScan);
}

} // namespace tile::conversion
