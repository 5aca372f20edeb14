// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds conversions of integers with a small range, and conversions whose result may keep the anchor; see
// SmallIntegers.h.
//
//   sitofp (subi %q, broadcast %z)   ==>   subf (uitofp %q), (broadcast (uitofp %z))
//   subf (uitofp %q), (broadcast %f)   ==>   subf (uitofp %q {keeps_anchor}), (broadcast (addf %f, anchor))
#include "SmallIntegers.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Infers the ranges of integer tensors from their definitions. Each range is computed once per kernel.
class IntegerRanges {
public:
  ConstantIntRanges of(Value value) {
    auto [place, isNew] = ranges.try_emplace(value, ConstantIntRanges::maxRange(bitsOf(value)));
    if (!isNew)
      return place->second;
    ConstantIntRanges range = compute(value);
    ranges.insert_or_assign(value, range);
    return range;
  }

private:
  static unsigned bitsOf(Value value) { return getElementTypeOf(value.getType()).getIntOrFloatBitWidth(); }
  static bool isInteger(Value value) { return isa<IntegerType>(getElementTypeOf(value.getType())); }

  ConstantIntRanges compute(Value value) {
    ConstantIntRanges unknown = ConstantIntRanges::maxRange(bitsOf(value));
    Operation *op = value.getDefiningOp();
    if (!op)
      return unknown;
    if (auto load = dyn_cast<cta::LocalLoadOp>(op))
      return ofBuffer(load.getBuffer(), unknown);
    if (isa<ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, SplatOp>(op))
      return of(op->getOperand(0));
    auto interface = dyn_cast<InferIntRangeInterface>(op);
    if (!interface || !llvm::all_of(op->getOperands(), isInteger))
      return unknown;
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand));
    ConstantIntRanges range = unknown;
    interface.inferResultRanges(operands, [&](Value, const ConstantIntRanges &inferred) { range = inferred; });
    return range;
  }

  /// Returns the range of the tensors that are stored to a buffer, if nothing else writes the buffer.
  ConstantIntRanges ofBuffer(Value buffer, const ConstantIntRanges &unknown) {
    if (!buffer.getDefiningOp<cta::AllocOp>())
      return unknown;
    std::optional<ConstantIntRanges> range;
    for (Operation *user : buffer.getUsers()) {
      if (isa<cta::LocalLoadOp>(user))
        continue;
      auto store = dyn_cast<cta::LocalStoreOp>(user);
      if (!store)
        return unknown;
      range = range ? range->rangeUnion(of(store.getValue())) : of(store.getValue());
    }
    return range.value_or(unknown);
  }

  DenseMap<Value, ConstantIntRanges> ranges;
};

/// Returns the value from which shape changes and layout conversions produce `value`.
Value skipShapes(Value value) {
  while (isa_and_present<ExpandDimsOp, BroadcastOp, cta::ConvertLayoutOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Applies to `source` the shape changes by which `value` is produced from skipShapes(value).
Value shapeAs(Value value, Value source, OpBuilder &builder) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<ExpandDimsOp, BroadcastOp, cta::ConvertLayoutOp>(op))
    return source;
  IRMapping mapping;
  mapping.map(op->getOperand(0), shapeAs(op->getOperand(0), source, builder));
  Operation *shaped = builder.clone(*op, mapping);
  Type element = getElementTypeOf(source.getType());
  shaped->getResult(0).setType(cast<RankedTensorType>(withElementType(value.getType(), element)));
  return shaped->getResult(0);
}

/// Annotates conversions and determines which results keep their anchor.
class ConversionNotes {
public:
  explicit ConversionNotes(KernelOp kernel)
      : hasBF16(cta::getTarget(kernel).has(target::Feature::BF16Arithmetic)), kernel(kernel) {}

  void run() {
    SmallVector<arith::SIToFPOp> conversions;
    kernel.walk([&](arith::SIToFPOp op) { conversions.push_back(op); });
    llvm::for_each(conversions, [&](arith::SIToFPOp op) { subtractFloats(op); });
    for (arith::SIToFPOp op : conversions)
      if (op->use_empty())
        op.erase();
    ranges = {}; // also drops the ranges of erased values
    kernel.walk([&](Operation *op) {
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
        note(op);
    });
    kernel.walk([&](arith::SubFOp sub) { keepAnchor(sub); });
  }

private:
  /// Returns true if the integers are non-negative and their range is small enough for the conversion.
  bool isSmall(Value integer, Type to) {
    ConstantIntRanges range = ranges.of(integer);
    if (range.smin().isNegative() || range.smax().getActiveBits() > 31)
      return false;
    const int64_t most = range.smax().getZExtValue();
    const Anchor anchor = anchorOf(to, most, hasBF16);
    return anchor.isHalf() && most < anchor.integers;
  }

  /// Rewrites float(q - z) to float(q) - float(z), if the same z is subtracted from many q.
  void subtractFloats(arith::SIToFPOp op) {
    auto sub = op.getIn().getDefiningOp<arith::SubIOp>();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!sub || !type || !sub->hasOneUse())
      return;
    Value zero = skipShapes(sub.getRhs());
    Type element = type.getElementType();
    if (zero == sub.getRhs() || !isSmall(sub.getLhs(), element) || !isSmall(zero, element))
      return;
    OpBuilder builder(op);
    auto convert = [&](Value integer) -> Value {
      return arith::UIToFPOp::create(builder, op.getLoc(), withElementType(integer.getType(), element), integer);
    };
    Value low = convert(zero);
    Value difference =
        arith::SubFOp::create(builder, op.getLoc(), convert(sub.getLhs()), shapeAs(sub.getRhs(), low, builder));
    op.replaceAllUsesWith(difference);
  }

  /// Annotates a conversion with its range, if the range is small enough.
  void note(Operation *op) {
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    Type to = result ? result.getElementType() : Type();
    if (!to || !(to.isF16() || to.isBF16() || to.isF32()) || getElementTypeOf(op->getOperand(0).getType()).isInteger(1))
      return;
    const bool isSigned = isa<arith::SIToFPOp>(op);
    ConstantIntRanges range = ranges.of(op->getOperand(0));
    const APInt &low = isSigned ? range.smin() : range.umin(), &high = isSigned ? range.smax() : range.umax();
    if (low.getSignificantBits() > 32 || high.getActiveBits() > 32)
      return;
    const int64_t least = isSigned ? low.getSExtValue() : 0,
                  most = isSigned ? high.getSExtValue() : high.getZExtValue();
    const int64_t span = most - std::min<int64_t>(least, 0);
    if (span < anchorOf(to, span, hasBF16).integers)
      op->setAttr(integerRange, DenseI64ArrayAttr::get(op->getContext(), {least, most}));
  }

  /// Keeps the anchor in the minuend and adds it to the subtrahend, if the subtrahend has fewer elements.
  void keepAnchor(arith::SubFOp sub) {
    Operation *from = sub.getLhs().getDefiningOp(), *subtracted = skipShapes(sub.getRhs()).getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(sub.getType());
    if (!type || !from || !from->hasAttr(integerRange) || !from->hasOneUse() || !subtracted ||
        !subtracted->hasAttr(integerRange) || subtracted == sub.getRhs().getDefiningOp() ||
        getElementTypeOf(from->getOperand(0).getType()).isInteger(8))
      return;
    auto rangeOf = [](Operation *op) { return op->getAttrOfType<DenseI64ArrayAttr>(integerRange).asArrayRef(); };
    const int64_t low = std::min<int64_t>(rangeOf(from)[0], 0);
    const Anchor anchor = anchorOf(type.getElementType(), rangeOf(from)[1] - low, hasBF16);
    // Integers of at most this magnitude are exact.
    const int64_t number = int64_t(anchor.number) - low, exact = 2 * anchor.integers;
    if (!anchor.isHalf() || rangeOf(subtracted)[0] + number < -exact || rangeOf(subtracted)[1] + number > exact)
      return;
    OpBuilder builder(sub);
    builder.setInsertionPointAfter(subtracted);
    Value small = subtracted->getResult(0);
    auto constant = SplatElementsAttr::get(cast<RankedTensorType>(small.getType()),
                                           builder.getFloatAttr(type.getElementType(), double(number)).getValue());
    Value sum =
        arith::AddFOp::create(builder, sub.getLoc(), small, arith::ConstantOp::create(builder, sub.getLoc(), constant));
    builder.setInsertionPoint(sub);
    sub.getRhsMutable().assign(shapeAs(sub.getRhs(), sum, builder));
    from->setAttr(keepsAnchor, builder.getUnitAttr());
  }

  const bool hasBF16;
  KernelOp kernel;
  IntegerRanges ranges;
};

} // namespace

void noteSmallIntegers(KernelOp kernel) {
  ConversionNotes(kernel).run();
}

} // namespace tile::conversion
