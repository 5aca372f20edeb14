// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes affine forms and conditions: one rule per operation, applied to the forms of its operands.
#include "Analysis/Addresses/AffineBlock.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

using MaybeBlock = std::optional<AffineBlock>;

/// The maximum depth to which chains of operands are followed. Longer chains come from unrolled loops, and following
/// them would overflow the stack.
static constexpr unsigned maxExpressionDepth = 500;

bool AffineBlock::isUniform() const {
  return llvm::all_of(steps, [](const Polynomial &step) { return step.isZero(); });
}

bool AffineBlock::isExact() const {
  return start.isExact() && llvm::all_of(steps, [](const Polynomial &step) { return step.isExact(); });
}

static AffineBlock uniformBlock(Type type, Polynomial start) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  AffineBlock block;
  block.start = std::move(start);
  block.steps.resize(tensor ? tensor.getRank() : 0);
  return block;
}

static AffineBlock addBlocks(const AffineBlock &lhs, const AffineBlock &rhs) {
  AffineBlock sum = lhs;
  sum.start = lhs.start + rhs.start;
  llvm::append_range(sum.domain, rhs.domain);
  for (auto [step, other] : llvm::zip_equal(sum.steps, rhs.steps))
    step = step + other;
  return sum;
}

static AffineBlock scaleBlock(const AffineBlock &block, const Polynomial &factor) {
  AffineBlock product = block;
  product.start = block.start * factor;
  for (Polynomial &step : product.steps)
    step = step * factor;
  return product;
}

static MaybeBlock multiplyBlocks(const AffineBlock &lhs, const AffineBlock &rhs) {
  if (rhs.isUniform() && rhs.domain.empty())
    return scaleBlock(lhs, rhs.start);
  if (lhs.isUniform() && lhs.domain.empty())
    return scaleBlock(rhs, lhs.start);
  return std::nullopt;
}

static MaybeBlock constantBlock(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getBitWidth() > 64)
    return std::nullopt;
  return uniformBlock(value.getType(), constant.getSExtValue());
}

/// Returns `block` divided by `divisor`, if that leaves no remainder for any values of the factors.
static MaybeBlock divideBlock(AffineBlock block, const Polynomial &divisor) {
  auto divide = [&](Polynomial &number) {
    auto [quotient, remainder] = number.divide(divisor);
    number = quotient;
    return remainder.isZero();
  };
  if (!divide(block.start) || !llvm::all_of(block.steps, divide))
    return std::nullopt;
  return block;
}

MaybeBlock AffineBlocks::get(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return entry->second;
  // Until the form is computed, the entry says "unknown"; this ends the recursion if the value depends on itself.
  MaybeBlock form;
  if (depth < maxExpressionDepth) {
    ++depth;
    form = compute(value);
    --depth;
  }
  if (form && !form->isExact())
    form.reset();
  Type type = value.getType();
  if (!form && isa<PtrType>(type))
    form = AffineBlock{value, 0, {}, {}};
  if (!form && type.isInteger())
    form = uniformBlock(type, Polynomial(value));
  return known[value] = form;
}

MaybeBlock AffineBlocks::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeCarried(argument);
  return computeResult(value.getDefiningOp());
}

/// Returns first + (iv - lower) / step * growth. The division must be exact, because the quotient counts iterations.
MaybeBlock AffineBlocks::computeCarried(BlockArgument argument) {
  auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar() || loop.getUnsignedCmp())
    return std::nullopt;
  MaybeBlock first = get(loop.getTiedLoopInit(argument)->get());
  AffineBlock growth = uniformBlock(argument.getType(), 0);
  for (Value next = loop.getTiedLoopYieldedValue(argument)->get(); next != argument;) {
    Value addend;
    if (auto add = next.getDefiningOp<AddPtrOp>()) {
      addend = add.getOffset();
      next = add.getPtr();
    } else if (auto add = next.getDefiningOp<arith::AddIOp>()) {
      bool isRight = add.getRhs() == argument;
      addend = isRight ? add.getLhs() : add.getRhs();
      next = isRight ? add.getRhs() : add.getLhs();
    } else if (auto hint = next.getDefiningOp<HintOp>()) {
      next = hint.getSrc();
      continue;
    } else {
      return std::nullopt;
    }
    MaybeBlock added = get(addend);
    if (!added || added->base || !added->domain.empty())
      return std::nullopt;
    growth = addBlocks(growth, *added);
  }
  auto isInvariant = [&](Value factor) { return loop.isDefinedOutsideOfLoop(factor); };
  MaybeBlock lower = get(loop.getLowerBound()), step = get(loop.getStep());
  bool invariant = growth.isExact() && growth.start.all(isInvariant) &&
                   llvm::all_of(growth.steps, [&](const Polynomial &each) { return each.all(isInvariant); });
  if (!first || !lower || !step || !invariant)
    return std::nullopt;
  Polynomial distance = Polynomial(loop.getInductionVar()) - lower->start;
  MaybeBlock grown = divideBlock(scaleBlock(growth, distance), step->start);
  return grown ? MaybeBlock(addBlocks(*first, *grown)) : std::nullopt;
}

/// If the hint is about a factor or a base itself (a parameter or a loaded value), the hint's result becomes a separate
/// factor, because the facts of the hint hold for that result only.
static MaybeBlock followHint(HintOp hint, MaybeBlock form) {
  bool isIdentity = form && (form->base == hint.getSrc() || form->start.getSingleFactor() == hint.getSrc());
  return isIdentity && !isa<RankedTensorType>(hint.getType()) ? std::nullopt : form;
}

MaybeBlock AffineBlocks::computeResult(Operation *op) {
  if (auto hint = dyn_cast<HintOp>(op))
    return followHint(hint, get(hint.getSrc()));
  if (auto change = dyn_cast<ShapeChange>(op))
    return computeShape(change);
  return computeArithmetic(op);
}

/// Translates conditions on the operand's indices into conditions on the result's indices. If a dimension of size 1 is
/// repeated, a condition on its only index holds either for all repeated elements or for none, so the translated
/// condition has no bound.
static void followShape(Conditions &conditions, ShapeChange change) {
  for (Condition &condition : conditions)
    if (condition.dim && !(condition.dim = change.getResultDim(*condition.dim)))
      condition = {};
}

MaybeBlock AffineBlocks::computeShape(ShapeChange change) {
  std::optional<SourceDims> dims = change.getSourceDims();
  MaybeBlock form = dims ? get(change->getOperand(0)) : std::nullopt;
  if (!form)
    return form;
  SmallVector<Polynomial, 2> steps;
  for (auto [from, size] : llvm::zip_equal(*dims, cast<RankedTensorType>(change->getResult(0).getType()).getShape()))
    steps.push_back(from && size != 1 ? form->steps[*from] : Polynomial()); // with size 1, the only index is 0
  form->steps = std::move(steps);
  followShape(form->domain, change);
  if (!llvm::all_of(form->domain, [](const Condition &condition) { return condition.isBoundary(); }))
    return std::nullopt;
  return form;
}

MaybeBlock AffineBlocks::computeArithmetic(Operation *op) {
  auto combine = [&](llvm::function_ref<MaybeBlock(const AffineBlock &, const AffineBlock &)> rule) -> MaybeBlock {
    MaybeBlock lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
    return lhs && rhs && !rhs->base ? rule(*lhs, *rhs) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, MaybeBlock>(op)
      .Case([&](arith::ConstantOp) { return constantBlock(op->getResult(0)); })
      .Case([&](ArangeOp arange) {
        AffineBlock block = uniformBlock(arange.getType(), int32_t(arange.getStart()));
        block.steps[0] = 1;
        return MaybeBlock(block);
      })
      .Case<arith::AddIOp, AddPtrOp>([&](Operation *) { return combine(addBlocks); })
      .Case([&](arith::SubIOp) {
        return combine(
            [](const AffineBlock &lhs, const AffineBlock &rhs) { return addBlocks(lhs, scaleBlock(rhs, -1)); });
      })
      .Case([&](arith::MulIOp) { return combine(multiplyBlocks); })
      .Case([&](arith::ShLIOp) {
        return combine([](const AffineBlock &lhs, const AffineBlock &rhs) -> MaybeBlock {
          std::optional<int64_t> bits = rhs.isUniform() ? rhs.start.getConstant() : std::nullopt;
          if (!bits || *bits < 0 || *bits > 31)
            return std::nullopt;
          return scaleBlock(lhs, int64_t(1) << *bits);
        });
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](Operation *) -> MaybeBlock {
        if (isa<arith::DivUIOp>(op) && !facts.get(op->getOperand(0)).isNonNegative())
          return std::nullopt;
        return combine([](const AffineBlock &lhs, const AffineBlock &rhs) -> MaybeBlock {
          std::optional<int64_t> divisor = rhs.isUniform() ? rhs.start.getConstant() : std::nullopt;
          return divisor && *divisor > 0 && !lhs.base ? divideBlock(lhs, *divisor) : std::nullopt;
        });
      })
      .Case([&](arith::ExtSIOp extend) { return get(extend.getIn()); })
      .Case([&](arith::ExtUIOp extend) {
        return facts.get(extend.getIn()).isNonNegative() ? get(extend.getIn()) : std::nullopt;
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *) { return computeRemainder(op); })
      .Case([&](arith::SelectOp select) -> MaybeBlock {
        if (!isa<RankedTensorType>(select.getCondition().getType()))
          return std::nullopt;
        Conditions conditions = getConditions(select.getCondition());
        MaybeBlock form = get(select.getTrueValue());
        if (!form || !llvm::all_of(conditions, [](const Condition &condition) { return condition.isBoundary(); }))
          return std::nullopt;
        llvm::append_range(form->domain, conditions);
        return form;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Handles `x % d` for a non-negative x: wherever x < d, the result is x.
MaybeBlock AffineBlocks::computeRemainder(Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  MaybeBlock number = get(op->getOperand(0)), divisor = get(op->getOperand(1));
  if (!tensor || !number || !divisor || !divisor->isUniform() || !divisor->domain.empty() ||
      !facts.get(op->getOperand(0)).isNonNegativeOffset())
    return std::nullopt;
  Condition below;
  for (auto [dim, step] : llvm::enumerate(number->steps)) {
    if (step.isZero())
      continue;
    if (below.dim || !(step == 1))
      return std::nullopt;
    below.dim = dim;
  }
  below.bound = divisor->start - number->start;
  if (!below.isBoundary())
    return std::nullopt;
  number->domain.push_back(below);
  return number;
}

// Masks as conditions.

Condition AffineBlocks::compare(Operation *op) {
  using Predicate = arith::CmpIPredicate;
  MaybeBlock lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  if (!lhs || !rhs || lhs->base || rhs->base || !lhs->domain.empty() || !rhs->domain.empty())
    return {};
  Predicate predicate = cast<arith::CmpIOp>(op).getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge) {
    std::swap(lhs, rhs);
    predicate = predicate == Predicate::sgt ? Predicate::slt : Predicate::sle;
  }
  Condition condition;
  bool countsUp = true;
  for (auto [dim, left, right] : llvm::enumerate(lhs->steps, rhs->steps)) {
    Polynomial step = left - right;
    if (step.isZero())
      continue;
    if (condition.dim)
      return {};
    condition.dim = dim;
    countsUp = step == 1;
  }
  if (condition.dim && countsUp && (predicate == Predicate::slt || predicate == Predicate::sle))
    condition.bound = rhs->start - lhs->start + (predicate == Predicate::sle ? 1 : 0);
  return condition;
}

Conditions AffineBlocks::getConditions(Value mask) {
  if (matchPattern(mask, m_One()))
    return {};
  auto found = knownConditions.find(mask);
  if (found != knownConditions.end())
    return found->second;
  Conditions conditions{Condition{}};
  if (Operation *op = mask.getDefiningOp(); op && depth < maxExpressionDepth) {
    ++depth;
    conditions = computeConditions(op);
    --depth;
  }
  return knownConditions[mask] = conditions;
}

Conditions AffineBlocks::computeConditions(Operation *op) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return {compare(comparison)};
  auto change = dyn_cast<ShapeChange>(op);
  bool follows = change && change.getSourceDims() && isa<RankedTensorType>(op->getOperand(0).getType());
  if (!follows && !isa<arith::AndIOp>(op))
    return {Condition{}};
  Conditions conditions = getConditions(op->getOperand(0));
  if (follows)
    followShape(conditions, change);
  else
    for (const Condition &condition : getConditions(op->getOperand(1)))
      if (!llvm::is_contained(conditions, condition))
        conditions.push_back(condition);
  return conditions;
}
