// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-fold-conditions: comparisons of indices that hold for all elements become true.
//
//   %rows = 64 * program_id + arange 0 to 64     %rows >= 0     ==>  true
//   for %i = 0 to 2: %ks = 64 * %i + arange      %ks < 128      ==>  true
//   for %i = 0 to %n step 64                     min(64, %n - %i) > 0   ==>  true
//
// Block pointers check both ends of each dimension, of which masks need one or none. Masks are computed for each
// access of a thread, in each iteration. What a loop does under a condition that always holds, it can do ahead.
#include "Analysis/IndexBounds.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
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

private:
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
    return facts.get(index).nonNegative ? 0 : std::numeric_limits<int64_t>::min();
  }

  /// Whether a loop counts `number` from zero or more to below `end`.
  bool isCountedTo(Value number, Value end) {
    auto argument = dyn_cast<BlockArgument>(number);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return loop && argument == loop.getInductionVar() && end == loop.getUpperBound() &&
           facts.get(loop.getLowerBound()).nonNegative;
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
                    llvm::all_of(term.factors, [&](Value factor) { return facts.get(factor).nonNegative; });
           });
  }

  AxisInfoAnalysis facts;
  AffineBlocks blocks;
  IndexBounds bounds;
};

struct TileFoldConditions : tile::impl::TileFoldConditionsBase<TileFoldConditions> {
  void runOnKernel() override {
    // All are found before any is replaced: forms are remembered by value.
    ConditionFolder folder(getOperation());
    SmallVector<arith::CmpIOp> found;
    getOperation().walk([&](arith::CmpIOp compare) {
      if (folder.holds(compare))
        found.push_back(compare);
    });
    for (arith::CmpIOp compare : found) {
      OpBuilder builder(compare);
      TypedAttr one = builder.getBoolAttr(true);
      if (auto type = dyn_cast<RankedTensorType>(compare.getType()))
        one = SplatElementsAttr::get(type, true);
      compare.replaceAllUsesWith(arith::ConstantOp::create(builder, compare.getLoc(), one).getResult());
      compare.erase();
    }
  }
};

} // namespace
