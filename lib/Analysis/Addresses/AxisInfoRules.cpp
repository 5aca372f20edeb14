// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AxisInfo: rules of kernel arguments and of operations that create or reshape tensors.
//
// Integer arithmetic is in AxisInfoArith.cpp. The results of operations without a rule are unknown, except that an
// element-wise result is constant where all operands are.
#include "Analysis/Addresses/AxisInfoRules.h"
#include "Analysis/Addresses/AxisInfoArith.h"

#include "Cta/CtaDialect.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// The maximum number of programs along the first dimension of the grid; launches with more are rejected
/// (lib/Runtime/Grid.cpp).
static constexpr int64_t largestGrid = std::numeric_limits<int32_t>::max();

AxisInfo tile::inferArgumentAxisInfo(BlockArgument argument) {
  AxisInfo info = AxisInfo::unknown(argument.getType());
  auto kernel = dyn_cast_if_present<KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel || !argument.getOwner()->isEntryBlock())
    return info;
  auto divisor = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), divisibilityAttrName);
  if (divisor && divisor.getInt() > 0)
    info.divisibility[0] = getPowerOfTwoDivisor(divisor.getInt());
  return info;
}

static AxisInfo inferArange(ArangeOp op) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.contiguity[0] = getPowerOfTwoDivisor(op.getType().getNumElements());
  info.divisibility[0] = getPowerOfTwoDivisor(int32_t(op.getStart()));
  int64_t last = int64_t(int32_t(op.getStart())) + op.getType().getNumElements() - 1;
  info.range = {int32_t(op.getStart()), last, last};
  if (info.contiguity[0] == 1)
    info.constant = int32_t(op.getStart());
  return info;
}

static AxisInfo inferConstant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (elements && !elements.isSplat())
    return AxisInfo::unknown(op.getType());
  if (elements)
    value = elements.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return AxisInfo::fromConstant(op.getType(), integer.getValue().getSExtValue());
  AxisInfo info = AxisInfo::fromConstant(op.getType(), 1);
  info.constant.reset();
  info.range = IntegerRange::ofType(op.getType());
  return info;
}

/// Copies the facts that hold for each element regardless of its position.
static void copyElementFacts(AxisInfo &info, const AxisInfo &src) {
  info.constant = src.constant;
  info.range = src.range;
  info.nonNegativeOffset = src.nonNegativeOffset;
  info.isAssumed = src.isAssumed;
}

/// Infers the facts of a shape change, which only moves or repeats elements: along a dimension of the result that has
/// no source dimension, all elements are equal.
static AxisInfo inferShapeChange(ShapeChange op, const AxisInfo &src) {
  Type type = op->getResult(0).getType();
  std::optional<SourceDims> dims = op.getSourceDims();
  AxisInfo info = AxisInfo::unknown(type);
  copyElementFacts(info, src);
  if (!dims)
    return info;
  for (auto [to, from, size] : llvm::enumerate(*dims, cast<RankedTensorType>(type).getShape())) {
    info.contiguity[to] = from ? src.contiguity[*from] : 1;
    info.divisibility[to] = from ? src.divisibility[*from] : src.getDivisibilityOfAll();
    info.constancy[to] = from ? src.constancy[*from] : getPowerOfTwoDivisor(size);
  }
  return info;
}

/// Each dimension of the result starts at some bit of the row-major index. In the operand, a dimension either starts at
/// the same bit or has the bit in its interior. Two dimensions that start at the same bit have the same groups.
///
///   tensor<8x16> -> tensor<4x32>   result dimension 1 starts where operand dimension 1 does
///                                  result dimension 0 steps over 2 elements of operand dimension 0
static AxisInfo inferReshape(ReshapeOp op, const AxisInfo &src) {
  if (op.getSrc().getType().getRank() == 0 || op.getType().getRank() == 0)
    return AxisInfo::unknown(op.getType());
  ArrayRef<int64_t> from = op.getSrc().getType().getShape(), to = op.getType().getShape();
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.divisibility.assign(info.getRank(), src.getDivisibilityOfAll());
  copyElementFacts(info, src);
  int64_t toStride = 1;
  for (int64_t axis = to.size() - 1; axis >= 0; toStride *= to[axis--]) {
    int64_t fromStride = 1, dim = from.size() - 1;
    while (dim > 0 && fromStride * from[dim] <= toStride)
      fromStride *= from[dim--];
    int64_t skipped = toStride / fromStride;
    if (skipped == 1) {
      info.contiguity[axis] = std::min(src.contiguity[dim], to[axis]);
      info.divisibility[axis] =
          std::max(info.divisibility[axis], src.getDivisibilityOfGroups(dim, info.contiguity[axis]));
    }
    info.constancy[axis] = std::clamp<int64_t>(src.constancy[dim] / skipped, 1, to[axis]);
    if (src.constant)
      info.constancy[axis] = to[axis];
  }
  return info;
}

/// Combines the known facts with the hint's facts. A divisibility along one dimension holds for the first elements of
/// that dimension's groups, whatever their indices in other dimensions. So the hint's divisibility is used only if the
/// other dimensions have no groups; otherwise, a hint about the first elements of those groups would be applied to all
/// elements.
static AxisInfo inferHint(HintOp op, const AxisInfo &src) {
  AxisInfo info = src;
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  auto raise = [&](int64_t &known, std::optional<ArrayRef<int64_t>> said, unsigned dim) {
    int64_t most = std::min(HintOp::maxElements, tensor ? getPowerOfTwoDivisor(tensor.getDimSize(dim)) : 1);
    if (said)
      known = std::max(known, std::min(getPowerOfTwoDivisor((*said)[dim]), most));
  };
  for (unsigned dim = 0; dim < info.getRank() && tensor && tensor.getRank() != 0; ++dim) {
    raise(info.contiguity[dim], op.getContiguity(), dim);
    raise(info.constancy[dim], op.getConstancy(), dim);
  }
  for (unsigned dim = 0; dim < info.getRank() && op.getDivisibility(); ++dim) {
    bool isAlone = true;
    for (unsigned other = 0; other < info.getRank(); ++other)
      isAlone &= other == dim || info.contiguity[other] == 1;
    if (isAlone)
      info.divisibility[dim] = std::max(info.divisibility[dim], getPowerOfTwoDivisor((*op.getDivisibility())[dim]));
  }
  return info;
}

static AxisInfo inferAddPtr(AddPtrOp op, const AxisInfo &pointer, const AxisInfo &offset) {
  // The offset in bytes counts up by the size of a pointee.
  AxisInfo bytes = offset;
  bytes.step = pointer.step;
  for (int64_t &divisibility : bytes.divisibility)
    divisibility = divisibility > AxisInfo::maxDivisibility / pointer.step ? AxisInfo::maxDivisibility
                                                                           : divisibility * pointer.step;
  bytes.constant.reset();
  limitContiguityToSignedRange(bytes, getElementTypeOf(op.getOffset().getType()));
  return addAxisInfos(op.getType(), pointer, bytes);
}

/// The addresses stay the same, but if they count up by one pointee of the source, they do not count up by one pointee
/// of the result.
static AxisInfo inferAddressCast(AddressCastOp op, const AxisInfo &source) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  const int64_t step = source.step;
  for (auto [dim, contiguity] : llvm::enumerate(source.contiguity)) {
    info.divisibility[dim] = source.divisibility[dim];
    info.constancy[dim] = source.constancy[dim];
    if (info.step == step)
      info.contiguity[dim] = contiguity;
    else if (contiguity > 1)
      info.divisibility[dim] = std::min(info.divisibility[dim], step & -step);
  }
  return info;
}

/// Loads from equal addresses give equal values, unless another thread may write between them.
static AxisInfo inferLoad(LoadOp op, ArrayRef<const AxisInfo *> operands) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  if (op.getIsVolatile() || op.getCache() == CacheModifier::cv)
    return info;
  for (auto [dim, constancy] : llvm::enumerate(info.constancy)) {
    constancy = operands.front()->getConstancy(dim);
    for (const AxisInfo *operand : operands.drop_front())
      constancy = std::min(constancy, operand->getConstancy(dim));
  }
  return info;
}

AxisInfo tile::inferAxisInfo(Operation *op, unsigned index, ArrayRef<const AxisInfo *> operands) {
  Type type = op->getResult(index).getType();
  auto isFirst = [](auto op) { return op.getAxis() == 0; };
  auto programs = [&](bool ofFirstAxis, bool isCount = false) {
    AxisInfo info = AxisInfo::unknown(type);
    info.range = IntegerRange::ofPrograms((ofFirstAxis ? largestGrid : largestOuterGrid) + isCount);
    info.range.smallest = isCount;
    return info;
  };
  if (std::optional<AxisInfo> info = inferArithmetic(op, operands))
    return *info;
  return llvm::TypeSwitch<Operation *, AxisInfo>(op)
      .Case([&](arith::ConstantOp constant) { return inferConstant(constant); })
      .Case([&](ArangeOp arange) { return inferArange(arange); })
      .Case([&](ReshapeOp reshape) { return inferReshape(reshape, *operands[0]); })
      .Case([&](ShapeChange change) { return inferShapeChange(change, *operands[0]); })
      .Case([&](AddPtrOp add) { return inferAddPtr(add, *operands[0], *operands[1]); })
      .Case([&](AddressCastOp cast) { return inferAddressCast(cast, *operands[0]); })
      .Case([&](LoadOp load) { return inferLoad(load, operands); })
      .Case([&](HintOp hint) { return inferHint(hint, *operands[0]); })
      .Case([&](cta::ConvertLayoutOp) { return *operands[0]; })
      .Case([&](ProgramIdOp id) { return programs(isFirst(id)); })
      .Case([&](NumProgramsOp number) { return programs(isFirst(number), /*isCount=*/true); })
      .Case([&](Swizzle2dOp) { return programs(/*ofFirstAxis=*/true); })
      .Default([&](Operation *) { return inferElementwise(op, type, operands); });
}

/// Returns true if the program assumes `condition`, alone or as part of a conjunction, in the block that defines
/// `value`, so that the assumption holds wherever the value is used.
static bool isAssumed(Value condition, Value value) {
  return llvm::any_of(condition.getUsers(), [&](Operation *user) {
    if (auto both = dyn_cast<arith::AndIOp>(user))
      return isAssumed(both, value);
    return isa<AssumeOp>(user) && user->getBlock() == value.getParentBlock();
  });
}

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64
             ? std::optional(constant.getSExtValue())
             : std::nullopt;
}

/// Returns the part of `range` in which a comparison of `value` with a constant holds: x >= 0, x > -1, 0 <= x, x < 100,
/// …
static IntegerRange limitRange(IntegerRange range, arith::CmpIOp compare, Value value) {
  using Predicate = arith::CmpIPredicate;
  bool isLeft = compare.getLhs() == value;
  std::optional<int64_t> bound = getConstant(isLeft ? compare.getRhs() : compare.getLhs());
  Predicate predicate = compare.getPredicate();
  auto is = [&](Predicate onLeft, Predicate onRight) { return predicate == (isLeft ? onLeft : onRight); };
  IntegerRange said;
  if (!bound)
    return range;
  if (is(Predicate::sge, Predicate::sle) || predicate == Predicate::eq)
    said.smallest = *bound;
  if (is(Predicate::sgt, Predicate::slt) && *bound < said.largest)
    said.smallest = *bound + 1;
  if (is(Predicate::sle, Predicate::sge) || predicate == Predicate::eq)
    said.largest = said.usual = *bound;
  if (is(Predicate::slt, Predicate::sgt) && *bound > said.smallest)
    said.largest = said.usual = *bound - 1;
  IntegerRange both = range.intersect(said);
  return both.smallest <= both.largest && both.smallest <= both.usual ? both : range; // a contradictory assumption
}

/// Returns the largest power of two that the program is known to assume as a divisor of `value` (`value % d == 0`), or
/// 1.
static int64_t getAssumedDivisor(Operation *op, Value value) {
  if (!isa<arith::RemSIOp, arith::RemUIOp>(op) || op->getOperand(0) != value)
    return 1;
  std::optional<int64_t> divisor = getConstant(op->getOperand(1));
  bool isZero = llvm::any_of(op->getUsers(), [&](Operation *user) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    return compare && compare.getPredicate() == arith::CmpIPredicate::eq && matchPattern(compare.getRhs(), m_Zero()) &&
           isAssumed(compare, value);
  });
  return divisor && *divisor > 0 && isZero ? getPowerOfTwoDivisor(*divisor) : 1;
}

void tile::addAssumptions(Value value, AxisInfo &info) {
  if (!value.getType().isInteger())
    return;
  for (Operation *user : value.getUsers()) {
    if (auto compare = dyn_cast<arith::CmpIOp>(user))
      if (isAssumed(compare, value))
        info.range = limitRange(info.range, compare, value);
    info.divisibility[0] = std::max(info.divisibility[0], getAssumedDivisor(user, value));
  }
}
