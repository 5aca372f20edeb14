// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits arithmetic on the iteration ranges of loops; see LoopRange.h.
#include "Analysis/Loops/LoopRange.h"

#include "Analysis/Addresses/AxisInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static std::optional<APInt> getConstantBound(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant) : std::nullopt;
}

std::optional<APInt> tile::countIterations(scf::ForOp loop) {
  std::optional<APInt> lower = getConstantBound(loop.getLowerBound()), upper = getConstantBound(loop.getUpperBound()),
                       step = getConstantBound(loop.getStep());
  const bool isUnsigned = loop.getUnsignedCmp();
  if (!step || step->isZero() || (!isUnsigned && step->isNegative()))
    return std::nullopt;
  if (loop.getLowerBound() == loop.getUpperBound())
    return APInt::getZero(step->getBitWidth());
  if (!lower || !upper)
    return std::nullopt;
  if (isUnsigned ? lower->uge(*upper) : lower->sge(*upper))
    return APInt::getZero(lower->getBitWidth());
  return (*upper - *lower - 1).udiv(*step) + 1;
}

uint64_t tile::boundIterations(scf::ForOp loop, AxisInfoAnalysis &axisInfo) {
  constexpr uint64_t unknown = std::numeric_limits<uint64_t>::max();
  if (std::optional<APInt> count = countIterations(loop))
    return count->getLimitedValue();
  std::optional<APInt> step = getConstantBound(loop.getStep());
  int64_t distance = 0;
  if (!step || !step->isStrictlyPositive() || loop.getUnsignedCmp() ||
      llvm::SubOverflow(axisInfo.get(loop.getUpperBound()).range.largest,
                        axisInfo.get(loop.getLowerBound()).range.smallest, distance))
    return unknown;
  return distance <= 0 ? 0 : (uint64_t(distance) - 1) / step->getZExtValue() + 1;
}

LoopRange::LoopRange(OpBuilder &builder, scf::ForOp loop)
    : LoopRange(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                loop.getUnsignedCmp()) {}

unsigned LoopRange::getWidth() const {
  return isa<IndexType>(lower.getType()) ? unsigned(IndexType::kInternalStorageBitWidth)
                                         : lower.getType().getIntOrFloatBitWidth();
}

Value LoopRange::constant(const APInt &value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(lower.getType(), value));
}

Value LoopRange::constant(int64_t value) {
  return constant(APInt(getWidth(), uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true));
}

Value LoopRange::emitLess(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, a,
                                             b);
}

Value LoopRange::emitCount() {
  Value distance = emit<arith::SubIOp>(upper, lower);
  if (!matchPattern(step, m_One())) {
    Value one = constant(1);
    Value last = emit<arith::DivUIOp>(emit<arith::SubIOp>(distance, one), step);
    distance = emit<arith::AddIOp>(last, one);
  }
  return builder.createOrFold<arith::SelectOp>(loc, emitAny(), distance, constant(0));
}

/// Returns bound - distance, but not less than the smallest integer.
Value LoopRange::emitSaturatedSub(Value bound, Value distance) {
  if (isUnsigned)
    return emit<arith::SubIOp>(emit<arith::MaxUIOp>(bound, distance), distance);
  Value least = emit<arith::AddIOp>(constant(APInt::getSignedMinValue(getWidth())), distance);
  return emit<arith::SubIOp>(emit<arith::MaxSIOp>(bound, least), distance);
}

Value LoopRange::emitLimit(unsigned distance) {
  std::optional<APInt> constantStep = getConstantBound(step);
  bool overflows = true;
  if (constantStep) {
    APInt factor(getWidth(), distance);
    APInt way = isUnsigned ? constantStep->umul_ov(factor, overflows) : constantStep->smul_ov(factor, overflows);
    if (!overflows)
      return distance == 0 ? upper : emitSaturatedSub(upper, constant(way));
  }
  Value limit = upper;
  for (unsigned i = 0; i < distance; ++i)
    limit = emitSaturatedSub(limit, step);
  return limit;
}

Value LoopRange::emitVariable(Value index) {
  return emit<arith::AddIOp>(lower, emit<arith::MulIOp>(index, step));
}

bool LoopRange::isRepresentable(unsigned index) const {
  std::optional<APInt> first = getConstantBound(lower), distance = getConstantBound(step);
  // If `lower` is at most zero, lower + step is representable, because `step` is.
  if (first && index <= 1 && (isUnsigned ? first->isZero() : !first->isStrictlyPositive()))
    return true;
  if (!first || !distance)
    return false;
  bool overflows = false, sumOverflows = false;
  APInt factor(getWidth(), index);
  APInt way = isUnsigned ? distance->umul_ov(factor, overflows) : distance->smul_ov(factor, overflows);
  (void)(isUnsigned ? first->uadd_ov(way, sumOverflows) : first->sadd_ov(way, sumOverflows));
  return !overflows && !sumOverflows;
}

bool LoopRange::hasRepresentableEnd() const {
  std::optional<APInt> end = getConstantBound(upper), distance = getConstantBound(step);
  if (!distance || distance->isOne())
    return distance.has_value();
  bool overflows = true;
  if (end)
    (void)(isUnsigned ? end->uadd_ov(*distance - 1, overflows) : end->sadd_ov(*distance - 1, overflows));
  return !overflows;
}

LoopRange LoopRange::emitWithoutFirst() {
  LoopRange others = *this;
  others.lower = emit<arith::AddIOp>(lower, step);
  return isRepresentable(1) ? others : others.emitIf(emitLess(lower, emitLimit(1)));
}

LoopRange LoopRange::emitIf(Value condition) {
  LoopRange range = *this;
  range.upper = builder.createOrFold<arith::SelectOp>(loc, condition, upper, lower);
  return range;
}
