// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AxisInfo: rules of element-wise arithmetic.
//
// Most rules are about aligned groups. If, within a group, x counts up over g elements from a multiple of g, and y is
// one multiple of g for all elements, then x = g*q + i with i from 0 to g-1 and y = g*p. Hence
//   x / y is constant in the group,   x % y = g*(q % p) + i counts up,   x < y compares q with p and is constant.
#include "Analysis/Addresses/AxisInfoArith.h"
#include "Analysis/Addresses/AxisInfoRules.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

using OperandInfos = ArrayRef<const AxisInfo *>;

static int64_t multiplySaturated(int64_t a, int64_t b) {
  return a > AxisInfo::maxDivisibility / b ? AxisInfo::maxDivisibility : a * b;
}

/// Returns the size of the aligned groups within which `counting` counts up from a multiple of that size and `uniform`
/// is a constant multiple of that size.
static int64_t getAlignedGroup(const AxisInfo &counting, const AxisInfo &uniform, unsigned dim) {
  return std::min({counting.getAlignedContiguity(dim), uniform.getConstancy(dim), uniform.getDivisibilityOfAll()});
}

/// Returns facts that say only this: elements are equal where they are equal in both operands.
static AxisInfo startFrom(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = AxisInfo::unknown(type);
  for (unsigned dim = 0; dim < info.getRank(); ++dim)
    info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
  return info;
}

static void setDivisibilityOfAll(AxisInfo &info, int64_t divisibility) {
  info.divisibility.assign(info.getRank(), divisibility);
}

// Rules for operations with two operands. If both are constants, the operation has already been folded.

/// Infers the facts of x + y. The sum counts up where one operand counts up and the other is constant. For x - y, only
/// x may count up.
static AxisInfo inferSum(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool isDifference) {
  AxisInfo info = startFrom(type, lhs, rhs);
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t left = std::min(lhs.contiguity[dim], rhs.constancy[dim]);
    int64_t right = isDifference ? 1 : std::min(rhs.contiguity[dim], lhs.constancy[dim]);
    bool leftCounts = left >= right;
    const AxisInfo &counting = leftCounts ? lhs : rhs, &uniform = leftCounts ? rhs : lhs;
    info.contiguity[dim] = std::max(left, right);
    info.divisibility[dim] =
        std::min(counting.getDivisibilityOfGroups(dim, info.contiguity[dim]), uniform.getDivisibilityOfAll());
  }
  info.nonNegativeOffset = !isDifference && lhs.isNonNegativeOffset() && rhs.isNonNegativeOffset();
  return info;
}

/// Returns true if `condition` implies x >= y.
static bool impliesAtLeast(Value condition, Value x, Value y) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return impliesAtLeast(both.getLhs(), x, y) || impliesAtLeast(both.getRhs(), x, y);
  using Predicate = arith::CmpIPredicate;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  Predicate predicate = compare.getPredicate();
  bool isAbove = predicate == Predicate::sge || predicate == Predicate::sgt;
  bool isBelow = predicate == Predicate::sle || predicate == Predicate::slt;
  return (isAbove && compare.getLhs() == x && compare.getRhs() == y) ||
         (isBelow && compare.getLhs() == y && compare.getRhs() == x);
}

/// Returns true if an enclosing branch or loop condition guarantees that the difference is not negative.
static bool isGuarded(arith::SubIOp op) {
  Value x = op.getLhs(), y = op.getRhs();
  for (Operation *inner = op, *outer = op->getParentOp(); outer; inner = outer, outer = outer->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch && inner->getBlock() == branch.thenBlock() && impliesAtLeast(branch.getCondition(), x, y))
      return true;
    auto loop = dyn_cast<scf::WhileOp>(outer);
    if (!loop || inner->getBlock() != loop.getAfterBody())
      continue;
    // Returns `value`, or the operand of the loop's condition that becomes `value` in the body.
    auto before = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isPassedOn = argument && argument.getOwner() == loop.getAfterBody();
      return isPassedOn ? loop.getConditionOp().getArgs()[argument.getArgNumber()] : value;
    };
    if (impliesAtLeast(loop.getConditionOp().getCondition(), before(x), before(y)))
      return true;
  }
  return false;
}

AxisInfo tile::addAxisInfos(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  return inferSum(type, lhs, rhs, /*isDifference=*/false);
}

static AxisInfo inferProduct(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (lhs.constant == 1)
    return rhs;
  if (rhs.constant == 1)
    return lhs;
  AxisInfo info = startFrom(type, lhs, rhs);
  setDivisibilityOfAll(info, multiplySaturated(lhs.getDivisibilityOfAll(), rhs.getDivisibilityOfAll()));
  info.nonNegativeOffset = lhs.isNonNegativeOffset() && rhs.isNonNegativeOffset();
  return info;
}

/// With `exact`, all elements of an aligned group have the same quotient: the division is unsigned, rounds down with a
/// positive divisor, or has non-negative operands.
static AxisInfo inferQuotient(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool exact) {
  if (rhs.constant == 1)
    return lhs;
  AxisInfo info = startFrom(type, lhs, rhs);
  if (exact && !lhs.isAssumed)
    for (unsigned dim = 0; dim < info.getRank(); ++dim)
      info.constancy[dim] = std::max(info.constancy[dim], getAlignedGroup(lhs, rhs, dim));
  // A multiple of d * n, divided by d, is a multiple of n, whatever its sign.
  if (rhs.constant && *rhs.constant > 0 && llvm::isPowerOf2_64(*rhs.constant))
    setDivisibilityOfAll(info, std::max<int64_t>(lhs.getDivisibilityOfAll() / *rhs.constant, 1));
  info.nonNegativeOffset = lhs.isNonNegativeOffset() && (!rhs.constant || *rhs.constant > 0);
  return info;
}

/// With `exact`, the remainders of an aligned group count up: the remainder is unsigned or has non-negative operands.
static AxisInfo inferRemainder(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool exact) {
  AxisInfo info = startFrom(type, lhs, rhs);
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t group = exact ? getAlignedGroup(lhs, rhs, dim) : 1;
    info.contiguity[dim] = group;
    info.divisibility[dim] = std::min(lhs.getDivisibilityOfGroups(dim, group), rhs.getDivisibilityOfAll());
  }
  info.nonNegativeOffset = lhs.isNonNegativeOffset();
  return info;
}

/// Infers the facts of x & y for a uniform y. Groups no larger than 2^(trailing zeros of y) become constant; groups no
/// larger than 2^(trailing ones of y) keep counting.
static AxisInfo inferAnd(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = startFrom(type, lhs, rhs);
  int64_t ones = rhs.constant ? getPowerOfTwoDivisor(~*rhs.constant) : 1; // trailing ones
  int64_t zeros = std::max(lhs.getDivisibilityOfAll(), rhs.getDivisibilityOfAll());
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    if (!lhs.isAssumed)
      info.constancy[dim] = std::max(info.constancy[dim], getAlignedGroup(lhs, rhs, dim));
    info.contiguity[dim] = std::min({lhs.getAlignedContiguity(dim), rhs.constancy[dim], ones});
    info.divisibility[dim] = std::max(zeros, lhs.getDivisibilityOfGroups(dim, info.contiguity[dim]));
  }
  info.nonNegativeOffset = lhs.isNonNegativeOffset() || rhs.isNonNegativeOffset();
  return info;
}

/// Infers the facts of x | y and x ^ y, which equal x + y if y has no bits below the size of the group.
static AxisInfo inferOr(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = startFrom(type, lhs, rhs);
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t left = getAlignedGroup(lhs, rhs, dim), right = getAlignedGroup(rhs, lhs, dim);
    bool leftCounts = left >= right;
    const AxisInfo &counting = leftCounts ? lhs : rhs, &uniform = leftCounts ? rhs : lhs;
    info.contiguity[dim] = std::max(left, right);
    info.divisibility[dim] =
        std::min(counting.getDivisibilityOfGroups(dim, info.contiguity[dim]), uniform.getDivisibilityOfAll());
  }
  info.nonNegativeOffset = lhs.isNonNegativeOffset() && rhs.isNonNegativeOffset();
  return info;
}

static AxisInfo inferLeftShift(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (rhs.constant == 0)
    return lhs;
  AxisInfo info = startFrom(type, lhs, rhs);
  bool known = rhs.constant && *rhs.constant > 0 && *rhs.constant < 62;
  int64_t factor = known ? int64_t(1) << *rhs.constant : 1;
  setDivisibilityOfAll(info, multiplySaturated(lhs.getDivisibilityOfAll(), factor));
  info.nonNegativeOffset = lhs.isNonNegativeOffset();
  return info;
}

/// Both kinds of right shift round down, so a group becomes constant if its elements differ only in the bits that are
/// shifted out.
static AxisInfo inferRightShift(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (rhs.constant == 0)
    return lhs;
  AxisInfo info = startFrom(type, lhs, rhs);
  bool known = rhs.constant && *rhs.constant > 0 && *rhs.constant < 62;
  int64_t divisor = known ? int64_t(1) << *rhs.constant : 1;
  for (unsigned dim = 0; dim < info.getRank(); ++dim)
    if (known && !lhs.isAssumed)
      info.constancy[dim] = std::max(info.constancy[dim], std::min(lhs.getAlignedContiguity(dim), divisor));
  if (known)
    setDivisibilityOfAll(info, std::max<int64_t>(lhs.getDivisibilityOfAll() / divisor, 1));
  info.nonNegativeOffset = lhs.isNonNegativeOffset();
  return info;
}

static AxisInfo inferExtremum(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool isMaximum) {
  AxisInfo info = startFrom(type, lhs, rhs);
  setDivisibilityOfAll(info, std::min(lhs.getDivisibilityOfAll(), rhs.getDivisibilityOfAll()));
  bool left = lhs.isNonNegativeOffset(), right = rhs.isNonNegativeOffset();
  info.nonNegativeOffset = isMaximum ? left || right : left && right;
  return info;
}

static AxisInfo inferComparison(arith::CmpIOp op, const AxisInfo &lhs, const AxisInfo &rhs) {
  using Predicate = arith::CmpIPredicate;
  AxisInfo info = startFrom(op.getType(), lhs, rhs);
  Predicate predicate = op.getPredicate();
  // x < y and x >= y are constant in an aligned group of x; y > x and y <= x are the same comparisons with the sides
  // swapped.
  bool leftCounts = llvm::is_contained({Predicate::slt, Predicate::ult, Predicate::sge, Predicate::uge}, predicate);
  bool rightCounts = llvm::is_contained({Predicate::sgt, Predicate::ugt, Predicate::sle, Predicate::ule}, predicate);
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t group = leftCounts ? getAlignedGroup(lhs, rhs, dim) : rightCounts ? getAlignedGroup(rhs, lhs, dim) : 1;
    if (!lhs.isAssumed && !rhs.isAssumed)
      info.constancy[dim] = std::max(info.constancy[dim], group);
  }
  return info;
}

static AxisInfo inferSelect(arith::SelectOp op, const AxisInfo &condition, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (condition.constant)
    return *condition.constant ? lhs : rhs;
  bool uniform = !isa<ShapedType>(op.getCondition().getType());
  AxisInfo info = AxisInfo::join(lhs, rhs);
  if (uniform)
    return info;
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t group = std::min(info.contiguity[dim], condition.constancy[dim]);
    info.divisibility[dim] = info.getDivisibilityOfGroups(dim, group);
    info.contiguity[dim] = group;
    info.constancy[dim] = std::min(info.constancy[dim], condition.constancy[dim]);
  }
  // Two different constants do not give a constant, but two equal constants do, whatever the condition.
  if (info.constant)
    return AxisInfo::fromConstant(op.getType(), *info.constant);
  return info;
}

// Rules for casts.

static void limitContiguity(AxisInfo &info, unsigned dim, int64_t limit) {
  int64_t group = std::min(info.contiguity[dim], limit);
  info.divisibility[dim] = info.getDivisibilityOfGroups(dim, group);
  info.contiguity[dim] = group;
}

void tile::limitContiguityToSignedRange(AxisInfo &info, Type element) {
  if (!element.isInteger() || element.getIntOrFloatBitWidth() > 62)
    return;
  for (unsigned dim = 0; dim < info.getRank(); ++dim)
    limitContiguity(info, dim, int64_t(1) << (element.getIntOrFloatBitWidth() - 1));
}

static AxisInfo inferCast(Operation *op, const AxisInfo &src) {
  Type from = getElementTypeOf(op->getOperand(0).getType()), to = getElementTypeOf(op->getResult(0).getType());
  AxisInfo info = src;
  // This has no effect on values of type index, whose casts lose nothing.
  bool narrows = isa<arith::TruncIOp>(op);
  limitContiguityToSignedRange(info, narrows ? to : from);
  // These casts wrap at values other than the ends of the signed range, so only aligned groups stay consecutive.
  if (narrows || (isa<arith::ExtUIOp>(op) && !src.isNonNegative()))
    for (unsigned dim = 0; dim < info.getRank(); ++dim)
      limitContiguity(info, dim, info.getAlignedContiguity(dim));
  info.nonNegativeOffset = (src.isNonNegativeOffset() && !narrows) || isa<arith::ExtUIOp>(op);
  if (!info.constant)
    return info;
  APInt value(64, *info.constant, /*isSigned=*/true, /*implicitTrunc=*/true);
  if (isa<arith::ExtUIOp>(op))
    value = value.trunc(from.getIntOrFloatBitWidth()).zext(64);
  if (to.isInteger() && to.getIntOrFloatBitWidth() < 64)
    value = value.trunc(to.getIntOrFloatBitWidth()).sext(64);
  return AxisInfo::fromConstant(op->getResult(0).getType(), value.getSExtValue());
}

// Rules for constants.

static std::optional<APInt> evaluate(Operation *op, const APInt &a, const APInt &b) {
  using Result = std::optional<APInt>;
  bool shifts = b.ult(b.getBitWidth());
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case([&](arith::DivSIOp) { return b.isZero() ? Result() : a.sdiv(b); })
      .Case([&](arith::DivUIOp) { return b.isZero() ? Result() : a.udiv(b); })
      .Case([&](arith::RemSIOp) { return b.isZero() ? Result() : a.srem(b); })
      .Case([&](arith::RemUIOp) { return b.isZero() ? Result() : a.urem(b); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::ShLIOp) { return shifts ? a.shl(b) : Result(); })
      .Case([&](arith::ShRSIOp) { return shifts ? a.ashr(b) : Result(); })
      .Case([&](arith::ShRUIOp) { return shifts ? a.lshr(b) : Result(); })
      .Case([&](arith::MinSIOp) { return a.slt(b) ? a : b; })
      .Case([&](arith::MaxSIOp) { return a.slt(b) ? b : a; })
      .Case([&](arith::MinUIOp) { return a.ult(b) ? a : b; })
      .Case([&](arith::CmpIOp compare) {
        return APInt(1, arith::applyCmpPredicate(compare.getPredicate(), a, b) ? 1 : 0);
      })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<AxisInfo> foldConstants(Operation *op, OperandInfos operands) {
  Type element = getElementTypeOf(op->getOperand(0).getType());
  if (operands.size() != 2 || !operands[0]->constant || !operands[1]->constant || !element.isIntOrIndex())
    return std::nullopt;
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto toInt = [&](int64_t value) { return APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true); };
  std::optional<APInt> value = evaluate(op, toInt(*operands[0]->constant), toInt(*operands[1]->constant));
  if (!value)
    return std::nullopt;
  return AxisInfo::fromConstant(op->getResult(0).getType(), value->getSExtValue());
}

// Selection of the rule for an operation.

AxisInfo tile::inferElementwise(Operation *op, Type type, OperandInfos operands) {
  AxisInfo info = AxisInfo::unknown(type);
  if (operands.empty() || !OpTrait::hasElementwiseMappableTraits(op) || !isPure(op))
    return info;
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (unsigned dim = 0; tensor && dim < tensor.getRank(); ++dim) {
    info.constancy[dim] = getPowerOfTwoDivisor(tensor.getDimSize(dim));
    for (auto [operand, known] : llvm::zip(op->getOperands(), operands))
      if (isa<ShapedType>(operand.getType()))
        info.constancy[dim] = std::min(info.constancy[dim], known->constancy[dim]);
  }
  return info;
}

/// Infers contiguity, divisibility and constancy, and the assumptions about offsets.
static std::optional<AxisInfo> inferAlongAxes(Operation *op, OperandInfos operands) {
  Type type = op->getResult(0).getType();
  auto lhs = [&]() -> const AxisInfo & { return *operands[0]; };
  auto rhs = [&]() -> const AxisInfo & { return *operands[1]; };
  auto either = [&](auto rule) { return lhs().constant ? rule(type, rhs(), lhs()) : rule(type, lhs(), rhs()); };
  using Result = std::optional<AxisInfo>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return inferSum(type, lhs(), rhs(), false); })
      .Case([&](arith::SubIOp difference) {
        AxisInfo info = inferSum(type, lhs(), rhs(), true);
        info.nonNegativeOffset |= isGuarded(difference);
        return info;
      })
      .Case([&](arith::MulIOp) { return inferProduct(type, lhs(), rhs()); })
      .Case([&](arith::DivSIOp) { return inferQuotient(type, lhs(), rhs(), lhs().isNonNegative()); })
      .Case([&](arith::DivUIOp) { return inferQuotient(type, lhs(), rhs(), true); })
      .Case([&](arith::FloorDivSIOp) { return inferQuotient(type, lhs(), rhs(), rhs().constant.value_or(1) > 0); })
      .Case([&](arith::RemSIOp) {
        AxisInfo info = inferRemainder(type, lhs(), rhs(), lhs().isNonNegativeOffset());
        info.isAssumed = !lhs().isNonNegative();
        return info;
      })
      .Case([&](arith::RemUIOp) { return inferRemainder(type, lhs(), rhs(), true); })
      .Case([&](arith::AndIOp) { return either(inferAnd); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return inferOr(type, lhs(), rhs()); })
      .Case([&](arith::ShLIOp) { return inferLeftShift(type, lhs(), rhs()); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return inferRightShift(type, lhs(), rhs()); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return inferExtremum(type, lhs(), rhs(), false); })
      .Case([&](arith::MaxSIOp) { return inferExtremum(type, lhs(), rhs(), true); })
      .Case([&](arith::CmpIOp compare) { return inferComparison(compare, lhs(), rhs()); })
      .Case([&](arith::SelectOp select) { return inferSelect(select, lhs(), rhs(), *operands[2]); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](Operation *cast) { return inferCast(cast, lhs()); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<AxisInfo> tile::inferArithmetic(Operation *op, OperandInfos operands) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || operands.empty() || op->getNumResults() != 1)
    return std::nullopt;
  if (std::optional<AxisInfo> folded = foldConstants(op, operands))
    return folded;
  std::optional<AxisInfo> info = inferAlongAxes(op, operands);
  if (!info || info->constant)
    return info;
  // The result does not rest on the assumption if it has no contiguity, for example as a scalar.
  info->isAssumed |= llvm::any_of(operands, [](const AxisInfo *operand) { return operand->isAssumed; });
  info->isAssumed &= llvm::any_of(info->contiguity, [](int64_t size) { return size > 1; });
  SmallVector<IntegerRange> ranges =
      llvm::map_to_vector(operands, [](const AxisInfo *operand) { return operand->range; });
  info->range = inferRange(op, ranges);
  // An enclosing condition may guarantee that the difference is not negative.
  auto difference = dyn_cast<arith::SubIOp>(op);
  if (difference && ranges[1].isNonNegative() && isGuarded(difference))
    info->range = {0, std::max<int64_t>(ranges[0].largest, 0), std::max<int64_t>(ranges[0].usual, 0)};
  return info;
}
