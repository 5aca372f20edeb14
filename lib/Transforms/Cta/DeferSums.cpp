// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-defer-sums: finish cross-thread sums after the loop instead of in every iteration.
//
// A sum over columns that a loop carries, possibly scaled by a factor per row, is linear: each thread can accumulate
// its own columns, and threads combine these partial sums once. An example is the sum of exponentials in attention, in
// the accumulator's layout, where four lanes share a row:
//
//   for …, (t = t0):                                for …, (p = t0 / 4 in each of 4 columns):
//     s = reduce w, 1 : 128x64 -> 128                 q = in-thread sums of w : 128x64 -> 128x4
//     t' = t * f + s                       ==>        p' = p * f[:, None] + q
//   use t                                           t = reduce p, 1 : 128x4 -> 128; use t
//
// If the addition is conditional, the branch yields the partial sums. If a whole vector is summed to a scalar, each
// thread that holds distinct elements has a partial sum. For example, a loss that is accumulated in a loop along a row
// needs no barrier in the loop.
//
// The axis is reshaped to one dimension for each group of index bits: dimensions that are in registers are reduced, and
// dimensions that are in lanes and warps are kept. Dividing the initial value by the number of partial sums is exact,
// because this number is a power of two. Floating-point sums are reassociated.
#include "Cta/CtaDialect.h"
#include "Layout/ShapeTransforms.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTADEFERSUMS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// A factor of a tensor's axis. The axis is split into factors from the slowest to the fastest; each is either held
/// completely by one thread, or distributed over threads.
struct AxisPart {
  bool isInThread;
  int64_t size;
};

/// t' = t * factor + reduce, or t' = t + reduce.
struct CarriedSum {
  unsigned argument;
  arith::AddFOp add;
  arith::MulFOp scale; ///< Null if there is no factor.
  ReduceOp reduce;
  SmallVector<OpResult> branches; ///< The operations that yield the sum, with or without the addition.
  SmallVector<AxisPart> parts;
};

bool isSum(ReduceOp reduce) {
  Block &combine = reduce.getCombine().front();
  auto add = dyn_cast<arith::AddFOp>(combine.front());
  return reduce.getSrcs().size() == 1 && add && combine.getOperations().size() == 2 &&
         combine.getTerminator()->getOperand(0) == add.getResult() && add.getLhs() != add.getRhs() &&
         llvm::all_of(add->getOperands(), llvm::IsaPred<BlockArgument>);
}

/// Splits the axis into factors. Returns nullopt if some index bit of the axis does not correspond to exactly one
/// register, lane or warp bit, or if each thread holds all of the axis.
std::optional<SmallVector<AxisPart>> splitAxis(const LinearLayout &layout, unsigned axis, int64_t size) {
  int64_t inThread = 0, across = 0;
  for (const layout::InDim &dim : layout.inDims())
    for (const std::vector<int32_t> &basis : dim.bases) {
      int64_t bit = basis[axis];
      bool isAlone = llvm::count(basis, 0) == int64_t(basis.size()) - 1;
      if (bit == 0)
        continue;
      if (!llvm::isPowerOf2_64(bit) || !isAlone)
        return std::nullopt;
      (dim.name == layout::registerDim ? inThread : across) |= bit;
    }
  if (across == 0 || (inThread & across) || (inThread | across) != size - 1)
    return std::nullopt;
  SmallVector<AxisPart> parts;
  for (int64_t bit = size / 2; bit > 0; bit /= 2) {
    bool isInThread = inThread & bit;
    if (parts.empty() || parts.back().isInThread != isInThread)
      parts.push_back({isInThread, 1});
    parts.back().size *= 2;
  }
  return parts;
}

/// Follows nested branches that yield `carried` unchanged on one side. Returns their results, and the value that the
/// innermost branch yields on its other side.
std::pair<SmallVector<OpResult>, Value> followBranches(Value value, Value carried) {
  SmallVector<OpResult> branches;
  while (auto branch = value.getDefiningOp<scf::IfOp>()) {
    auto result = cast<OpResult>(value);
    Value onTrue = branch.thenYield().getOperand(result.getResultNumber()),
          onFalse = branch.elseYield().getOperand(result.getResultNumber());
    if (!result.hasOneUse() || (onTrue != carried && onFalse != carried))
      break;
    branches.push_back(result);
    value = onTrue == carried ? onFalse : onTrue;
  }
  return {branches, value};
}

std::optional<CarriedSum> findSum(scf::ForOp loop, unsigned argument) {
  BlockArgument carried = loop.getRegionIterArg(argument);
  auto [branches, value] = followBranches(loop.getYieldedValues()[argument], carried);
  CarriedSum sum{argument, value.getDefiningOp<arith::AddFOp>(), {}, {}, branches, {}};
  Operation *around = branches.empty() ? loop.getOperation() : branches.back().getOwner();
  if (!sum.add || !sum.add->hasOneUse() || !carried.hasNUses(1 + branches.size()) || sum.add->getParentOp() != around)
    return std::nullopt;
  for (auto [own, other] : {std::pair(sum.add.getLhs(), sum.add.getRhs()), {sum.add.getRhs(), sum.add.getLhs()}}) {
    auto scale = own.getDefiningOp<arith::MulFOp>();
    bool isScaled = scale && scale->hasOneUse() && llvm::is_contained(scale->getOperands(), carried);
    if (own != carried && !isScaled)
      continue;
    sum.scale = isScaled ? scale : arith::MulFOp();
    sum.reduce = other.getDefiningOp<ReduceOp>();
  }
  if (!sum.reduce || !sum.reduce->hasOneUse() || sum.reduce->getBlock() != sum.add->getBlock() || !isSum(sum.reduce))
    return std::nullopt;
  auto source = cast<RankedTensorType>(sum.reduce.getSrcs().front().getType());
  LinearLayout layout = cta::getLayout(source);
  if (auto type = dyn_cast<RankedTensorType>(carried.getType());
      type && cta::getLayout(type) != layout::removeDim(layout, sum.reduce.getAxis()))
    return std::nullopt;
  auto parts = splitAxis(layout, sum.reduce.getAxis(), source.getDimSize(sum.reduce.getAxis()));
  if (!parts)
    return std::nullopt;
  sum.parts = *parts;
  return sum;
}

class SumDeferrer {
public:
  SumDeferrer(IRRewriter &rewriter, scf::ForOp loop, CarriedSum sum)
      : rewriter(rewriter), loop(loop), sum(std::move(sum)), loc(this->sum.reduce.getLoc()),
        axis(this->sum.reduce.getAxis()) {}

  void run() {
    rewriter.setInsertionPoint(sum.reduce);
    Value part = reduceInThreads();
    type = cast<RankedTensorType>(part.getType());

    rewriter.setInsertionPoint(loop);
    loop.getInitArgsMutable()[sum.argument].set(emitShare(loop.getInitArgs()[sum.argument]));

    Value carried = loop.getRegionIterArg(sum.argument);
    carried.setType(type);
    rewriter.setInsertionPoint(sum.add);
    Value scaled = carried;
    if (sum.scale) {
      bool isFirst = sum.scale.getLhs() == carried;
      Value factor = spread(isFirst ? sum.scale.getRhs() : sum.scale.getLhs());
      scaled = arith::MulFOp::create(rewriter, loc, carried, factor, sum.scale.getFastmath());
    }
    Value next = arith::AddFOp::create(rewriter, loc, scaled, part, sum.add.getFastmath());
    sum.add->use_begin()->set(next);
    for (OpResult result : sum.branches)
      result.setType(type);

    Value result = loop.getResult(sum.argument);
    result.setType(type);
    rewriter.setInsertionPointAfter(loop);
    Value total = reduce(result, axis);
    rewriter.replaceAllUsesExcept(result, total, total.getDefiningOp());
    rewriter.eraseOp(sum.add);
    if (sum.scale)
      rewriter.eraseOp(sum.scale);
    rewriter.eraseOp(sum.reduce);
  }

private:
  static RankedTensorType withLayout(RankedTensorType of, ArrayRef<int64_t> shape, const LinearLayout &layout) {
    return RankedTensorType::get(shape, of.getElementType(), cta::LayoutAttr::get(of.getContext(), layout));
  }

  /// Emits the initial value of each partial sum.
  Value emitShare(Value first) {
    double share = 1.0 / double(type.getDimSize(axis));
    APFloat number(0.0);
    if (matchPattern(first, m_ConstantFloat(&number)))
      return emitConstant(type, number.convertToDouble() * share);
    return spread(arith::MulFOp::create(rewriter, loc, first, emitConstant(first.getType(), share)));
  }

  Value emitConstant(Type of, double number) {
    TypedAttr attribute = rewriter.getFloatAttr(getElementTypeOf(of), number);
    if (auto tensor = dyn_cast<RankedTensorType>(of))
      attribute = DenseElementsAttr::get(tensor, cast<FloatAttr>(attribute).getValue());
    return arith::ConstantOp::create(rewriter, loc, attribute);
  }

  Value reduce(Value source, unsigned along) {
    auto from = cast<RankedTensorType>(source.getType());
    SmallVector<int64_t> shape(from.getShape());
    shape.erase(shape.begin() + along);
    Type to =
        shape.empty() ? from.getElementType() : withLayout(from, shape, layout::removeDim(cta::getLayout(from), along));
    auto op = ReduceOp::create(rewriter, loc, TypeRange{to}, ValueRange{source}, along);
    IRMapping none;
    rewriter.cloneRegionBefore(sum.reduce.getCombine(), op.getCombine(), op.getCombine().end(), none);
    return op->getResult(0);
  }

  /// Splits the axis of the source, reduces the factors in registers, and joins the remaining factors to one axis
  /// again.
  Value reduceInThreads() {
    Value source = sum.reduce.getSrcs().front();
    auto from = cast<RankedTensorType>(source.getType());
    Value value = reshape(
        source,
        [&](SmallVector<int64_t> &sizes) {
          for (const AxisPart &part : sum.parts)
            sizes.push_back(part.size);
        },
        from.getShape(), 1);
    unsigned remaining = 0;
    for (unsigned index = sum.parts.size(); index-- > 0;) {
      if (sum.parts[index].isInThread)
        value = reduce(value, axis + index);
      else
        ++remaining;
    }
    int64_t size = 1;
    for (const AxisPart &part : sum.parts)
      size *= part.isInThread ? 1 : part.size;
    return reshape(
        value, [&](SmallVector<int64_t> &sizes) { sizes.push_back(size); },
        cast<RankedTensorType>(value.getType()).getShape(), remaining);
  }

  /// Replaces `count` dimensions, from the axis on, by dimensions with the sizes that `addSizes` appends.
  Value reshape(Value source, llvm::function_ref<void(SmallVector<int64_t> &)> addSizes, ArrayRef<int64_t> from,
                unsigned count) {
    SmallVector<int64_t> shape(from.take_front(axis));
    addSizes(shape);
    llvm::append_range(shape, from.drop_front(axis + count));
    if (ArrayRef(shape) == from)
      return source;
    auto type = cast<RankedTensorType>(source.getType());
    LinearLayout layout = layout::reshape(cta::getLayout(type), std::vector<int64_t>(shape.begin(), shape.end()));
    return ReshapeOp::create(rewriter, loc, withLayout(type, shape, layout), source);
  }

  /// Broadcasts one value per row, or a scalar, to all partial sums.
  Value spread(Value rows) {
    auto from = dyn_cast<RankedTensorType>(rows.getType());
    if (!from)
      return SplatOp::create(rewriter, loc, type, rows);
    SmallVector<int64_t> shape(from.getShape());
    shape.insert(shape.begin() + axis, 1);
    Type expanded = withLayout(from, shape, layout::insertUnitDim(cta::getLayout(from), axis));
    Value column = ExpandDimsOp::create(rewriter, loc, expanded, rows, axis);
    return BroadcastOp::create(rewriter, loc, type, column);
  }

  IRRewriter &rewriter;
  scf::ForOp loop;
  CarriedSum sum;
  Location loc;
  unsigned axis;
  RankedTensorType type; ///< The type of the partial sums.
};

struct CtaDeferSums : tile::impl::CtaDeferSumsBase<CtaDeferSums> {
  void runOnKernel() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      for (unsigned argument = 0; argument < loop.getNumRegionIterArgs(); ++argument)
        if (std::optional<CarriedSum> sum = findSum(loop, argument))
          SumDeferrer(rewriter, loop, *sum).run();
  }
};

} // namespace
