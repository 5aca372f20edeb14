// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-fold-conditions: comparisons of indices that hold for all elements become true, and others have 32 bits if they
// can; quotients and remainders of indices are unsigned.
//
//   %rows = 64 * program_id + arange 0 to 64     %rows >= 0     ==>  true
//   for %i = 0 to 2: %ks = 64 * %i + arange      %ks < 128      ==>  true
//   for %i = 0 to %n step 64                     min(64, %n - %i) > 0   ==>  true
//   %t = extsi program_id 1: 64 * %t + arange < extsi %n                ==>  64 * program_id 1 + arange < %n
//   store select(%m, %x, 0) * %y mask %m          ==>  store %x * %y mask %m
//   (64 * program_id + arange) / 4, signed        ==>  unsigned
//
// Block pointers check both ends of each dimension, of which masks need one or none. Masks are computed for each
// access of a thread, in each iteration. What a loop does under a condition that always holds, it can do ahead. A
// comparison of 64 bits is two instructions, and its operands take two registers each. What is not stored need not be
// selected, as after a sum that needed it. A signed quotient rounds towards zero, which takes three instructions more
// than a shift; and if a remainder by 2 can be -1, neighbours have conditions of their own.
#include "Analysis/IndexBounds.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEFOLDCONDITIONS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using arith::CmpIPredicate;

namespace {

class ConditionFolder {
public:
  explicit ConditionFolder(Operation *kernel) : facts(kernel), blocks(facts), bounds(blocks) {}

  bool holds(arith::CmpIOp compare) {
    return holds(compare.getPredicate(), compare.getLhs(), compare.getRhs()) ||
           holds(swap(compare.getPredicate()), compare.getRhs(), compare.getLhs());
  }

  /// Whether a signed comparison of 64-bit numbers, or one for equality, is that of their lower halves.
  bool isNarrow(arith::CmpIOp compare) {
    bool isSigned = compare.getPredicate() < CmpIPredicate::ult; // or equality
    return isSigned && getElementTypeOf(compare.getLhs().getType()).isInteger(64) && fits(compare.getLhs()) &&
           fits(compare.getRhs());
  }

  /// Whether signed quotients or remainders of indices are those of unsigned ones.
  bool isUnsigned(Operation *op) {
    APInt divisor;
    return isa<arith::DivSIOp, arith::RemSIOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()) &&
           matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.isStrictlyPositive() &&
           facts.get(op->getOperand(0)).isNonNegative() && isIndex(op->getOperand(0));
  }

private:
  /// Whether addresses follow from the number, which then does not overflow; others may.
  static bool isIndex(Value number) {
    constexpr size_t mostValues = 64;
    llvm::SetVector<Value> reached;
    reached.insert(number);
    for (size_t next = 0; next < std::min(reached.size(), mostValues); ++next)
      for (Operation *user : reached[next].getUsers()) {
        if (isa<AddPtrOp>(user))
          return true;
        if (isa<ShapeChange, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp,
                arith::ExtSIOp>(user))
          reached.insert(user->getResult(0));
      }
    return false;
  }

  /// Whether all elements are numbers of 32 bits.
  bool fits(Value index) {
    if (auto widen = skipShapes(index).getDefiningOp<arith::ExtSIOp>())
      return getElementTypeOf(widen.getIn().getType()).getIntOrFloatBitWidth() <= 32;
    APInt number;
    if (matchPattern(index, m_ConstantInt(&number)))
      return number.isSignedIntN(32);
    return getSmallest(index) >= 0 && getLargest(index) <= std::numeric_limits<int32_t>::max();
  }

  static Value skipShapes(Value value) {
    while (auto change = dyn_cast_or_null<ShapeChange>(value.getDefiningOp()))
      value = change->getOperand(0);
    return value;
  }

  /// Of the signed ones that may hold: what they are with operands exchanged.
  static CmpIPredicate swap(CmpIPredicate predicate) {
    switch (predicate) {
    case CmpIPredicate::sge:
      return CmpIPredicate::sle;
    case CmpIPredicate::sgt:
      return CmpIPredicate::slt;
    case CmpIPredicate::sle:
      return CmpIPredicate::sge;
    case CmpIPredicate::slt:
      return CmpIPredicate::sgt;
    default:
      return CmpIPredicate::ne;
    }
  }

  bool holds(CmpIPredicate predicate, Value index, Value constant) {
    APInt number;
    if (!matchPattern(constant, m_ConstantInt(&number)) || number.getBitWidth() > 64)
      return false;
    int64_t limit = number.getSExtValue();
    switch (predicate) {
    case CmpIPredicate::sge:
      return getSmallest(index) >= limit;
    case CmpIPredicate::sgt:
      return getSmallest(index) > limit;
    case CmpIPredicate::slt:
      return getLargest(index) < limit;
    case CmpIPredicate::sle:
      return getLargest(index) <= limit;
    default:
      return false;
    }
  }

  /// No element is smaller.
  int64_t getSmallest(Value index) {
    APInt number;
    if (matchPattern(index, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
      return number.getSExtValue();
    if (auto least = index.getDefiningOp<arith::MinSIOp>())
      return std::min(getSmallest(least.getLhs()), getSmallest(least.getRhs()));
    auto rest = index.getDefiningOp<arith::SubIOp>();
    if (rest && isCountedTo(rest.getRhs(), rest.getLhs()))
      return 1;
    return facts.get(index).isNonNegative() ? 0 : std::numeric_limits<int64_t>::min();
  }

  /// Whether a loop counts `number` from zero or more to below `end`.
  bool isCountedTo(Value number, Value end) {
    auto argument = dyn_cast<BlockArgument>(number);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return loop && !loop.getUnsignedCmp() && argument == loop.getInductionVar() && end == loop.getUpperBound() &&
           facts.get(loop.getLowerBound()).isNonNegative();
  }

  /// No element is larger.
  int64_t getLargest(Value index) {
    constexpr int64_t unknown = std::numeric_limits<int64_t>::max();
    std::optional<AffineBlock> form = blocks.get(index);
    if (!form || form->base || !form->domain.empty() || !isNonNegative(form->start))
      return unknown;
    int64_t largest = bounds.getUpperBound(form->start, index);
    auto type = dyn_cast<RankedTensorType>(index.getType());
    for (auto [dim, step] : llvm::enumerate(form->steps)) {
      std::optional<int64_t> constant = step.getConstant();
      int64_t way = 0;
      if (!constant || *constant < 0 || llvm::MulOverflow(*constant, type.getDimSize(dim) - 1, way) ||
          llvm::AddOverflow(largest, way, largest))
        return unknown;
    }
    return largest;
  }

  bool isNonNegative(const Polynomial &number) {
    return number.isExact() && llvm::all_of(number.getTerms(), [&](const Polynomial::Term &term) {
             return term.coefficient > 0 &&
                    llvm::all_of(term.factors, [&](Value factor) { return facts.get(factor).isNonNegative(); });
           });
  }

  AxisInfoAnalysis facts;
  AffineBlocks blocks;
  IndexBounds bounds;
};

/// The lower half of a number or tensor of 64 bits, computed from lower halves as far as shapes and sums go.
class LowerHalves {
public:
  Value get(Value value) {
    Value lower = known.lookup(value);
    return lower ? lower : known[value] = emit(value);
  }

private:
  Value emit(Value value) {
    Operation *op = value.getDefiningOp();
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Type type = getTypeLike(value.getType(), builder.getI32Type());
    if (auto widen = dyn_cast_or_null<arith::ExtSIOp>(op); widen && widen.getIn().getType() == type)
      return widen.getIn();
    bool isComputed = isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, ShapeChange>(op);
    if (!isComputed)
      return arith::TruncIOp::create(builder, value.getLoc(), type, value);
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return get(operand); });
    builder.setInsertionPointAfterValue(value);
    Operation *lower = builder.clone(*op);
    lower->setOperands(operands);
    lower->getResult(0).setType(type);
    return lower->getResult(0);
  }

  /// Of the shape, if it is a tensor.
  static Type getTypeLike(Type type, Type element) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.clone(element) : element;
  }

  DenseMap<Value, Value> known;
};

/// Whether all that is computed of the value, element by element, is reduced or stored under `mask`. What else is
/// computed of a selection keeps it, and without it a thread would have to keep what it selects from as well.
bool isReducedOrStored(Value value, Value mask, unsigned &budget) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (budget == 0)
      return false;
    --budget;
    auto store = dyn_cast<StoreOp>(user);
    return isa<ReduceOp>(user) || (store && store.getMask() == mask) ||
           (isElementwise(user) && isPure(user) && isReducedOrStored(user->getResult(0), mask, budget));
  });
}

/// Takes selections by `mask` out of what is computed, for stores under that mask alone, element by element.
void skipSelections(OpOperand &stored, Value mask) {
  auto isNeeded = [&](Value selected) {
    unsigned budget = 64; // operations to look at
    return !isReducedOrStored(selected, mask, budget);
  };
  for (auto select = stored.get().getDefiningOp<arith::SelectOp>();
       select && select.getCondition() == mask && !isNeeded(select);
       select = stored.get().getDefiningOp<arith::SelectOp>())
    stored.set(select.getTrueValue());
  Operation *op = stored.get().getDefiningOp();
  if (op && stored.get().hasOneUse() && isElementwise(op) && isPure(op))
    for (OpOperand &operand : op->getOpOperands())
      skipSelections(operand, mask);
}

void makeUnsigned(Operation *division) {
  OpBuilder builder(division);
  Value number = division->getOperand(0), divisor = division->getOperand(1);
  Operation *result = isa<arith::DivSIOp>(division)
                          ? arith::DivUIOp::create(builder, division->getLoc(), number, divisor).getOperation()
                          : arith::RemUIOp::create(builder, division->getLoc(), number, divisor);
  division->replaceAllUsesWith(result);
  division->erase();
}

struct TileFoldConditions : tile::impl::TileFoldConditionsBase<TileFoldConditions> {
  void runOnKernel() override {
    // All are found before any is replaced: forms are remembered by value.
    ConditionFolder folder(getOperation());
    SmallVector<arith::CmpIOp> found, narrow;
    SmallVector<Operation *> divisions;
    getOperation().walk([&](Operation *op) {
      auto compare = dyn_cast<arith::CmpIOp>(op);
      if (compare && folder.holds(compare))
        found.push_back(compare);
      else if (compare && folder.isNarrow(compare))
        narrow.push_back(compare);
      else if (folder.isUnsigned(op))
        divisions.push_back(op);
    });
    LowerHalves lower;
    for (arith::CmpIOp compare : narrow)
      compare->setOperands({lower.get(compare.getLhs()), lower.get(compare.getRhs())});
    for (arith::CmpIOp compare : found) {
      OpBuilder builder(compare);
      TypedAttr one = builder.getBoolAttr(true);
      if (auto type = dyn_cast<RankedTensorType>(compare.getType()))
        one = SplatElementsAttr::get(type, true);
      compare.replaceAllUsesWith(arith::ConstantOp::create(builder, compare.getLoc(), one).getResult());
      compare.erase();
    }
    for (Operation *op : divisions)
      makeUnsigned(op);
    getOperation().walk([](StoreOp store) {
      if (store.getMask())
        skipSelections(store.getValueMutable(), store.getMask());
    });
  }
};

} // namespace
