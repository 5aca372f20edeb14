// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives bounds of factors from the operations that compute them, and bounds of sums also from 32-bit integers that
// the program has already computed. Integers beyond 64 bits are represented by the largest 64-bit integer.
#include "Analysis/Addresses/IndexBounds.h"
#include "Analysis/Addresses/IntegerRange.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static constexpr int64_t largest = std::numeric_limits<int64_t>::max();
static constexpr int64_t largestIndex = std::numeric_limits<int32_t>::max();

/// The maximum depth to which computations are followed. Loop bounds take only a few operations; deeper values are
/// bounded by the range of their type.
static constexpr unsigned maxBoundDepth = 12;

static int64_t getLargestOfType(Type type) {
  return type.isInteger() && type.getIntOrFloatBitWidth() < 64 ? (int64_t(1) << (type.getIntOrFloatBitWidth() - 1)) - 1
                                                               : largest;
}

static std::optional<int64_t> getPositiveConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getBitWidth() > 64 || !constant.isStrictlyPositive())
    return std::nullopt;
  return constant.getSExtValue();
}

/// Returns the values that are computed whenever `user` is executed, because they depend neither on a branch nor on the
/// iterations of a loop.
static llvm::SetVector<Value> collectOperands(Value user) {
  llvm::SetVector<Value> reached;
  reached.insert(user);
  for (size_t next = 0; next < reached.size(); ++next) {
    Value value = reached[next];
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      if (value.getDefiningOp()->getNumRegions() == 0)
        reached.insert(value.getDefiningOp()->operand_begin(), value.getDefiningOp()->operand_end());
    } else if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())) {
      if (argument != loop.getInductionVar())
        reached.insert(loop.getTiedLoopInit(argument)->get());
    }
  }
  return reached;
}

/// Returns a power of two that divides `number`, whatever the values of its factors.
static int64_t getAlignment(const Polynomial &number) {
  int64_t bits = 0;
  for (const Polynomial::Term &term : number.getTerms())
    bits |= term.coefficient;
  return bits == 0 ? 1 : bits & -bits;
}

int64_t IndexBounds::getUpperBound(const Polynomial &number, Value user) {
  int64_t bound = std::min(getUpperBound(number), getBoundAtLoopEnds(number));
  for (Value value : collectOperands(user)) {
    if (!getElementTypeOf(value.getType()).isInteger(32))
      continue;
    std::optional<AffineBlock> computed = blocks.get(value);
    if (!computed || !computed->domain.empty())
      continue;
    // The part of `number` that `computed` does not cover. Its terms must be terms of `number`, because only factors of
    // `number` are known to be non-negative.
    Polynomial remainder = number - computed->start;
    bool isPart =
        remainder.isExact() && llvm::all_of(remainder.getTerms(), [&](const Polynomial::Term &term) {
          return term.factors.empty() || (term.coefficient > 0 && llvm::is_contained(number.getTerms(), term));
        });
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    // The last element along a dimension exceeds the first by this amount.
    int64_t length = 0;
    for (auto [dim, step] : llvm::enumerate(computed->steps))
      if (step == 1)
        length = std::max(length, tensor.getDimSize(dim) - 1);
    int64_t added = isPart ? getUpperBound(remainder) : largest, start = largestIndex - length;
    if (llvm::isInt<32>(added))
      bound = std::min(bound, (start & -getAlignment(computed->start)) + added);
  }
  return bound;
}

int64_t IndexBounds::getUpperBound(const Polynomial &number) {
  if (!number.isExact())
    return largest;
  int64_t sum = 0;
  for (const Polynomial::Term &term : number.getTerms()) {
    int64_t product = term.coefficient;
    for (Value factor : term.factors)
      if (llvm::MulOverflow(product, getUpperBound(factor), product))
        return largest;
    if (llvm::AddOverflow(sum, product, sum))
      return largest;
  }
  return sum;
}

/// Bounds a sum by replacing loop counters with their last values, if these consist of values that occur in other terms
/// of the sum.
int64_t IndexBounds::getBoundAtLoopEnds(const Polynomial &number) {
  Polynomial sum;
  for (const Polynomial::Term &term : number.getTerms()) {
    std::optional<Polynomial> last = getLast(term);
    sum = sum + (last ? *last : Polynomial(term));
  }
  // Accept only constants and positive multiples of one factor: in other terms, the sign of a loop bound is unknown.
  bool hasBound = llvm::all_of(sum.getTerms(), [](const Polynomial::Term &term) {
    return term.factors.empty() || (term.coefficient > 0 && term.factors.size() == 1);
  });
  return hasBound ? getUpperBound(sum) : largest;
}

/// Returns an upper bound of `counted`, a multiple of a loop counter: n - 1 for `range(n)`. If n is x / d, the loop
/// runs only if x is at least d, and d * (n - 1) is at most x - d.
std::optional<Polynomial> IndexBounds::getLast(const Polynomial::Term &counted) {
  auto argument = counted.factors.size() == 1 ? dyn_cast<BlockArgument>(counted.factors.front()) : BlockArgument();
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp() || counted.coefficient <= 0)
    return std::nullopt;
  Value end = loop.getUpperBound();
  int64_t divisor = 1;
  if (Operation *op = end.getDefiningOp(); isa_and_present<arith::DivSIOp, arith::FloorDivSIOp>(op))
    if (std::optional<int64_t> constant = getPositiveConstant(op->getOperand(1));
        constant && counted.coefficient % *constant == 0) {
      divisor = *constant;
      end = op->getOperand(0);
    }
  std::optional<AffineBlock> form = blocks.get(end);
  if (!form)
    return std::nullopt;
  return (form->start - divisor) * Polynomial(counted.coefficient / divisor);
}

/// Returns a power of two that divides the loop counter.
int64_t IndexBounds::getAlignmentOfVariable(scf::ForOp loop) {
  std::optional<int64_t> step = getPositiveConstant(loop.getStep());
  std::optional<AffineBlock> lower = blocks.get(loop.getLowerBound());
  if (!step || !lower)
    return 1;
  int64_t ofStep = *step & -*step;
  return lower->start.isZero() ? ofStep : std::min(ofStep, getAlignment(lower->start));
}

int64_t IndexBounds::getUpperBound(Value factor) {
  if (std::optional<int64_t> constant = getPositiveConstant(factor))
    return *constant;
  int64_t bound = getLargestOfType(factor.getType());
  if (depth == maxBoundDepth)
    return bound;
  ++depth;
  if (auto argument = dyn_cast<BlockArgument>(factor)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    // The counter stays below the upper bound, and it is a multiple of any common divisor of the lower bound and the
    // step.
    if (loop && argument == loop.getInductionVar() && !loop.getUnsignedCmp())
      bound = (std::min(bound, getUpperBound(loop.getUpperBound())) - 1) & -getAlignmentOfVariable(loop);
  } else {
    bound = std::min(bound, getBoundOfOperation(factor.getDefiningOp()));
  }
  --depth;
  return bound;
}

/// Returns an upper bound of the operation's result. The result must be non-negative, and so must the operands from
/// which the bound is computed.
int64_t IndexBounds::getBoundOfOperation(Operation *op) {
  auto bound = [&](unsigned operand) { return getUpperBound(op->getOperand(operand)); };
  auto divisor = [&] { return getPositiveConstant(op->getOperand(1)); };
  auto sum = [&] {
    int64_t result;
    return llvm::AddOverflow(bound(0), bound(1), result) ? largest : result;
  };
  auto multiple = [&] {
    std::optional<int64_t> factor = getPositiveConstant(op->getOperand(1));
    int64_t result;
    return !factor || llvm::MulOverflow(bound(0), *factor, result) ? largest : result;
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](arith::ExtSIOp) { return bound(0); })
      .Case([&](ProgramIdOp id) { return (id.getAxis() == 0 ? largestIndex : largestOuterGrid) - 1; })
      .Case([&](NumProgramsOp number) { return number.getAxis() == 0 ? largestIndex : largestOuterGrid; })
      .Case([&](arith::AddIOp) { return sum(); })
      .Case([&](arith::MulIOp) { return multiple(); })
      .Case([&](arith::MinSIOp) { return std::min(bound(0), bound(1)); })
      .Case<arith::DivSIOp, arith::FloorDivSIOp>([&](Operation *) { return bound(0) / divisor().value_or(1); })
      .Case([&](arith::CeilDivSIOp) { return llvm::divideCeilSigned(bound(0), divisor().value_or(1)); })
      .Case([&](arith::RemSIOp) { return divisor() ? *divisor() - 1 : bound(0); })
      .Default([](Operation *) { return largest; });
}
