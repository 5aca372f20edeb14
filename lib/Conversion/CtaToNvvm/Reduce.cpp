// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions. First each thread reduces its registers in a balanced tree of neighbours, so that the elements of one
// load are combined before the elements of the next load are needed. Then the lanes of a warp are reduced by butterfly
// shuffles.
//
//   registers that differ only along the axis      r0 r1 r2 r3   ->  (r0 r1) (r2 r3)  ->  r0
//   … that hold multiplications                    a0 * b0  ->  a1 * b1 + s  ->  a2 * b2 + s  ->  …
//   lane bits along the axis                       x = combine of x and shuffle_xor(x, 1 << bit); all lanes have it
//   … all five, of integers                        x = redux.sync of x
//
// If the combine region is not commutative, the elements must be in the order of the axis: in registers, then in lanes,
// then in warps. cta-assign-layouts ensures this. Bits that only replicate elements are skipped, because each element
// must be combined only once. A bit that moves along both the axis and another dimension selects a separate result,
// provided that no other bit leads to that result. If warps hold different parts of the axis, cta-lower-conversions has
// replaced tile.reduce by cta.partial_reduce, which returns a separate result for each warp.
#include "Combine.h"
#include "EmitLayout.h"
#include "Patterns.h"

#include "Layout/AxisOrder.h"
#include "Layout/ShapeTransforms.h"
#include "Target/Tuned.h"
#include "Tile/Commutative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

struct ReductionPlan {
  std::vector<uint64_t> axisRegisters; // register indices (one bit each) to combine, in the order of the axis
  std::vector<uint64_t> keptRegisters; // register bits that select results
  std::vector<unsigned> axisLanes;     // lane bits to combine, in the order of the axis
  LinearLayout reduced;                // layout of the results; its register bits are keptRegisters
};

/// One bit of the (register, lane, warp) input.
struct InputBit {
  std::string_view dim;
  unsigned index;
  std::vector<int32_t> basis;
};

std::vector<InputBit> inputBits(const LinearLayout &layout) {
  std::vector<InputBit> bits;
  for (std::string_view dim : {layout::registerDim, layout::laneDim, layout::warpDim})
    for (auto [index, basis] : llvm::enumerate(layout.bases(dim)))
      bits.push_back({dim, unsigned(index), basis});
  return bits;
}

/// Plans a reduction. Returns nullopt, with the reason in `problem`, if the layout mixes the axis with other dimensions
/// or spreads the axis over warps.
std::optional<ReductionPlan> planReduction(const LinearLayout &layout, unsigned axis, bool keepWarps,
                                           std::string &problem) {
  ReductionPlan plan;
  layout::Span held, results;
  unsigned warpGroups = 0;
  std::vector<std::vector<int32_t>> registers, lanes, warps;
  std::vector<InputBit> alongAxis;
  for (InputBit bit : inputBits(layout)) {
    bool isRegister = bit.dim == layout::registerDim, isWarp = bit.dim == layout::warpDim;
    bool repeats = !held.insert(layout.flatten(bit.basis));
    int32_t step = bit.basis[axis];
    std::vector<int32_t> basis = bit.basis;
    basis[axis] = 0;
    // The coordinates of the result in the kept dimensions; the coordinate along the axis is 0.
    uint64_t place = layout.flatten(basis);
    if (isWarp && step != 0 && keepWarps) {
      if (repeats) {
        problem = "repeats elements in other warps along the axis";
        return std::nullopt;
      }
      basis[axis] = 1 << warpGroups++;
    }
    if (isRegister && !repeats && place != 0) {
      plan.keptRegisters.push_back(uint64_t(1) << bit.index);
      registers.push_back(basis);
    }
    if (!isRegister)
      (isWarp ? warps : lanes).push_back(basis);
    if (repeats)
      continue;
    if (place != 0) {
      if (!results.insert(place)) {
        problem = "mixes the axis with other dimensions";
        return std::nullopt;
      }
      continue;
    }
    if (isWarp && !keepWarps) {
      problem = "spreads the axis over warps; cta-lower-conversions should have split the reduction";
      return std::nullopt;
    }
    if (!isWarp)
      alongAxis.push_back(bit);
  }
  llvm::stable_sort(alongAxis, [&](const InputBit &a, const InputBit &b) { return a.basis[axis] < b.basis[axis]; });
  for (const InputBit &bit : alongAxis)
    if (bit.dim == layout::registerDim)
      plan.axisRegisters.push_back(uint64_t(1) << bit.index);
    else
      plan.axisLanes.push_back(bit.index);
  std::vector<int64_t> shape = layout.outShape();
  shape[axis] = int64_t(1) << warpGroups;
  plan.reduced = LinearLayout({{std::string(layout::registerDim), registers},
                               {std::string(layout::laneDim), lanes},
                               {std::string(layout::warpDim), warps}},
                              shape);
  return plan;
}

/// A plan for a reduction whose operands all have the same layout, and whose results need not be moved to other
/// threads.
struct CheckedPlan {
  ReductionPlan plan;
  std::vector<int32_t> resultRegisters; // result register -> register of plan.reduced
};

std::optional<CheckedPlan> planFor(Operation *op, unsigned axis, std::string &problem) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  for (Type other : op->getOperandTypes())
    if (cta::getLayoutAttr(other) != cta::getLayoutAttr(type)) {
      problem = "differs from that of another operand";
      return std::nullopt;
    }
  bool isPartial = isa<cta::PartialReduceOp>(op);
  if (!layout::isInOrder(cta::getLayout(type), axis) &&
      !tile::isCommutative(op->getRegion(0).front(), /*isExact=*/false)) {
    problem = "does not hold the axis in the order in which it has to be combined";
    return std::nullopt;
  }
  std::optional<ReductionPlan> plan = planReduction(cta::getLayout(type), axis, isPartial, problem);
  if (!plan)
    return std::nullopt;
  CheckedPlan checked{std::move(*plan), {0}};
  auto resultType = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!resultType)
    return checked;
  LinearLayout reduced = isPartial ? checked.plan.reduced : layout::projectDim(checked.plan.reduced, axis);
  const LinearLayout &result = cta::getLayout(resultType);
  std::optional<std::vector<int32_t>> sources;
  if (reduced.outShape() == result.outShape())
    sources = registerSources(reduced, result);
  if (!sources || llvm::any_of(op->getResultTypes(), [&](Type other) {
        return cta::getLayoutAttr(other) != cta::getLayoutAttr(resultType);
      })) {
    problem = "leaves the results in threads other than those of the result's layout";
    return std::nullopt;
  }
  checked.resultRegisters = *sources;
  return checked;
}

/// Combines tuples in a balanced tree whose leaves are runs of `inTurn` tuples; each run is combined sequentially. The
/// number of tuples is a power of two.
Tuple combineTree(CombineEmitter &emitter, ArrayRef<Tuple> tuples, size_t inTurn) {
  if (tuples.size() <= inTurn)
    return std::accumulate(tuples.begin() + 1, tuples.end(), tuples.front(),
                           [&](const Tuple &sum, const Tuple &next) { return emitter.combine(sum, next); });
  size_t half = tuples.size() / 2;
  Tuple left = combineTree(emitter, tuples.take_front(half), inTurn);
  return emitter.combine(left, combineTree(emitter, tuples.drop_front(half), inTurn));
}

/// Returns how many elements are combined sequentially. If the elements are results of multiplications, a sequential
/// sum consists of fused multiply-adds; in a tree, only the leaves could be fused.
size_t countInTurn(Block &combine, ValueRange registers) {
  // With four terms, three of the four multiplications are fused, and the sum takes about as many cycles as a tree.
  const size_t sequential = target::tunedOf(cta::getTarget(combine.getParentOp())).sequentialTerms;
  bool adds = combine.getOperations().size() == 2 && isa<arith::AddFOp>(combine.front());
  bool areMultiplied = llvm::all_of(registers, [](Value value) { return value.getDefiningOp<arith::MulFOp>(); });
  return adds && areMultiplied ? sequential : 1;
}

template <typename OpType> struct ReductionLowering : OpConversionPattern<OpType> {
  ReductionLowering(const TypeConverter &converter, MLIRContext *context, bool multiplies, bool hasRedux)
      : OpConversionPattern<OpType>(converter, context), multiplies(multiplies), hasRedux(hasRedux) {}

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::string problem;
    std::optional<CheckedPlan> checked = planFor(op, op.getAxis(), problem);
    if (!checked)
      return rewriter.notifyMatchFailure(op, problem);
    const ReductionPlan &plan = checked->plan;
    CombineEmitter emitter(rewriter, op.getLoc(), op.getCombine().front());
    auto combination = [](const std::vector<uint64_t> &bits, size_t selected) {
      uint64_t value = 0;
      for (size_t bit = 0; bit < bits.size(); ++bit)
        if (selected >> bit & 1)
          value |= bits[bit];
      return value;
    };
    const size_t inTurn = hasFewRegisters(op) ? 1 : countInTurn(op.getCombine().front(), adaptor.getSrcs().front());
    SmallVector<Tuple> reduced;
    for (size_t kept = 0; kept < size_t(1) << plan.keptRegisters.size(); ++kept) {
      SmallVector<Tuple> tuples;
      for (size_t along = 0; along < size_t(1) << plan.axisRegisters.size(); ++along) {
        size_t index = combination(plan.keptRegisters, kept) | combination(plan.axisRegisters, along);
        Tuple &tuple = tuples.emplace_back();
        for (ValueRange registers : adaptor.getSrcs())
          tuple.push_back(registers[index]);
      }
      Tuple result = combineTree(emitter, tuples, inTurn);
      bool isOfWarp = hasRedux && plan.axisLanes.size() == layout::laneBits;
      if (std::optional<Tuple> ofWarp = isOfWarp ? emitter.combineWarp(result) : std::nullopt)
        result = *ofWarp;
      else
        result = emitter.combineLanes(std::move(result), plan.axisLanes);
      reduced.push_back(std::move(result));
    }
    SmallVector<Registers> results(op->getNumResults());
    for (auto [index, registers] : llvm::enumerate(results))
      for (int32_t source : checked->resultRegisters)
        registers.push_back(reduced[source][index]);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// Returns true if the kernel also has tensor-core MMAs or the maximum number of threads, so that registers are
  /// scarce. ptxas then orders a tree by register pressure.
  bool hasFewRegisters(Operation *op) const {
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
    return multiplies || (threads && threads.asArrayRef().front() >= int32_t(target::maxThreadsPerCta));
  }

  bool multiplies, hasRedux;
};

} // namespace

static LogicalResult checkReduction(Operation *op, const target::GpuTarget &) {
  for (Value operand : op->getOperands()) {
    Type element = getElementTypeOf(operand.getType());
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      return op->emitOpError() << "reduces " << element << "; convert it to a wider type first";
  }
  unsigned axis = isa<ReduceOp>(op) ? cast<ReduceOp>(op).getAxis() : cast<cta::PartialReduceOp>(op).getAxis();
  std::string problem;
  if (planFor(op, axis, problem))
    return success();
  return op->emitOpError() << "layout of operand " << op->getOperand(0).getType() << " " << problem;
}

void registerReduceLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ReductionLowering<ReduceOp>, ReductionLowering<cta::PartialReduceOp>>(
      lowerings.converter, lowerings.context, lowerings.multiplies, lowerings.gpu.has(target::Feature::Redux));
  lowerings.check<ReduceOp, cta::PartialReduceOp>(checkReduction);
}

} // namespace tile::conversion
