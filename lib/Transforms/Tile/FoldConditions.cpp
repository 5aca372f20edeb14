// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-fold-conditions: fold comparisons of indices that hold for all elements to true, narrow others to 32 bits where
// possible, and make quotients and remainders of indices unsigned.
//
//   %rows = 64 * program_id + arange 0 to 64     %rows >= 0     ==>  true
//   for %i = 0 to 2: %ks = 64 * %i + arange      %ks < 128      ==>  true
//   for %i = 0 to %n step 64                     min(64, %n - %i) > 0   ==>  true
//   %t = extsi program_id 1: 64 * %t + arange < extsi %n                ==>  64 * program_id 1 + arange < %n
//   store select(%m, %x, 0) * %y mask %m          ==>  store %x * %y mask %m
//   (64 * program_id + arange) / 4, signed        ==>  unsigned
//
// Block pointers check both ends of each dimension, but a mask needs at most one of these checks. Masks are computed
// for each access of a thread, in each iteration. Code under a condition that always holds can be hoisted or
// prefetched. A 64-bit comparison takes two instructions, and two registers per operand. Values that are not stored
// need not be selected, even if a preceding reduction needed the selection. A signed quotient rounds towards zero,
// which takes three instructions more than a shift. A signed remainder of a division by 2 can be -1, so neighbouring
// elements would need separate conditions.
#include "Analysis/Addresses/IndexBounds.h"
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

  /// Returns true if a signed or equality comparison of 64-bit integers can compare their lower halves instead.
  bool isNarrow(arith::CmpIOp compare) {
    bool isSigned = compare.getPredicate() < CmpIPredicate::ult; // signed order, or equality
    return isSigned && getElementTypeOf(compare.getLhs().getType()).isInteger(64) && fits(compare.getLhs()) &&
           fits(compare.getRhs());
  }

  /// Returns true if signed quotients or remainders of indices equal the unsigned ones.
  bool isUnsigned(Operation *op) {
    APInt divisor;
    return isa<arith::DivSIOp, arith::RemSIOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()) &&
           matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.isStrictlyPositive() &&
           facts.get(op->getOperand(0)).isNonNegative() && isIndex(op->getOperand(0));
  }

private:
  /// Returns true if addresses are computed from the integer. Overflow can be excluded only for such integers.
  static bool isIndex(Value number) {
    constexpr size_t maxValues = 64;
    llvm::SetVector<Value> reached;
    reached.insert(number);
    for (size_t next = 0; next < std::min(reached.size(), maxValues); ++next)
      for (Operation *user : reached[next].getUsers()) {
        if (isa<AddPtrOp>(user))
          return true;
        if (isa<ShapeChange, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp,
                arith::ExtSIOp>(user))
          reached.insert(user->getResult(0));
      }
    return false;
  }

  /// Returns true if all elements fit into 32 bits.
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

  /// Returns the predicate for swapped operands. Returns `ne` for predicates that holds() does not support.
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

  /// Returns a lower bound for all elements.
  int64_t getSmallest(Value index) {
    APInt number;
    if (matchPattern(index, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
      return number.getSExtValue();
    if (auto least = index.getDefiningOp<arith::MinSIOp>())
      return std::min(getSmallest(least.getLhs()), getSmallest(least.getRhs()));
    auto remainder = index.getDefiningOp<arith::SubIOp>();
    if (remainder && isCountedTo(remainder.getRhs(), remainder.getLhs()))
      return 1;
    return facts.get(index).isNonNegative() ? 0 : std::numeric_limits<int64_t>::min();
  }

  /// Returns true if `number` is the induction variable of a loop from zero or more to `end`.
  bool isCountedTo(Value number, Value end) {
    auto argument = dyn_cast<BlockArgument>(number);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return loop && !loop.getUnsignedCmp() && argument == loop.getInductionVar() && end == loop.getUpperBound() &&
           facts.get(loop.getLowerBound()).isNonNegative();
  }

  /// Returns an upper bound for all elements.
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

/// Emits the lower half of a 64-bit scalar or tensor, computed from lower halves through shape operations, sums,
/// differences and products.
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

  /// Returns a tensor of `element` with the shape of `type`, if that is a tensor.
  static Type getTypeLike(Type type, Type element) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.clone(element) : element;
  }

  DenseMap<Value, Value> known;
};

/// Returns true if all values computed from the value element by element are reduced, or stored under `mask`. Any other
/// user would keep the selection, and a thread would have to hold the unselected values as well.
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

/// Bypasses selections by `mask` in the element-wise computation of values that are stored only under that mask.
void skipSelections(OpOperand &stored, Value mask) {
  auto isNeeded = [&](Value selected) {
    unsigned budget = 64; // values to visit
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
    // All comparisons are found before any is replaced, because the analysis caches its results by value.
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
