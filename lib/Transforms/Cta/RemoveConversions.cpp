// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-remove-conversions: compute values in the layout in which they are needed.
//
// Backward: for `c = convert(v -> L)`, collect the operations that compute v. If they are cheap (constants, ranges,
// arithmetic, shape changes), or the leaves of that slice are cheaper to convert than v, clone the slice in layout L. A
// slice may go around a loop or through a branch: then the loop carries the value in L instead. Forward: a conversion
// sinks below the arithmetic that uses its value, whatever the number of uses, to where the fewest bytes must be
// converted, including other operands. There, it is followed by a store, or by a conversion that undoes it. A
// conversion also sinks below a branch that only masks its value on one side.
//
//   %c = convert(%acc : #mma -> #default)                       %r = arith.truncf %acc : #mma
//   %r = arith.truncf %c                        == forward ==>  %s = convert(%r : #mma -> #store)
//   %s = convert(%r : #default -> #store)
//
// Both repeat until nothing changes. Every step lowers the bytes that conversions move, or leaves them about the same
// and sinks one conversion, and a loop-carried value changes its layout once. In rare graphs with transpositions, steps
// of about equal cost may undo each other, so the number of steps is bounded as well.
#include "Analysis/Flow/CarriedValue.h"
#include "Analysis/Flow/Recreate.h"
#include "Layout/Access.h"
#include "Target/Tuned.h"
#include "Transforms/CanonicalizeLoops.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAREMOVECONVERSIONS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using cta::ConvertLayoutOp;

namespace {

/// The maximum number of users below which a conversion may sink. The limit keeps the pass linear in the size of a
/// kernel.
constexpr size_t maxFollowers = 128;

/// Returns the layout of the results if the operands have layout `layout`; null if `op` cannot be computed in it.
/// Operations with a region that is executed per element may be expensive, so they are not recomputed; regions that
/// combine elements are allowed.
cta::LayoutAttr getResultLayout(Operation *op, cta::LayoutAttr layout) {
  auto interface = dyn_cast<cta::LayoutInterface>(op);
  bool mayFollow = interface && (isa<ReduceOp>(op) || (op->getNumResults() == 1 && op->getNumRegions() == 0));
  return mayFollow ? interface.getResultLayout(layout) : cta::LayoutAttr();
}

/// Finds users of a conversion that can be computed in the layout of its source without converting more bytes
/// elsewhere. One example is a chain of arithmetic on an accumulator, even if a value in it has several uses. Another
/// one is the maxima of rows and the differences from them. Two sums that are both needed in the old layout are not
/// such users.
class Followers {
public:
  Followers(ConvertLayoutOp convert, LayoutSlicer &slicer)
      : convert(convert), slicer(slicer), layout(cta::getLayoutAttr(convert.getSrc().getType())),
        bytes(LayoutSlicer::bytesOf(convert.getSrc())),
        smallPart(target::tunedOf(cta::getTarget(convert)).freeConversionShare) {}

  /// Returns these operations in program order.
  SmallVector<Operation *> plan() {
    // costs[n] is the cost if only the first n candidates follow; costs[0] is the cost of the conversion itself.
    SmallVector<int64_t> costs{bytes}, others{0};
    for (Operation *op : collect()) {
      if (!join(op))
        break;
      costs.push_back(otherBytes + frontierBytes());
      others.push_back(otherBytes);
    }
    int64_t most = *llvm::min_element(costs) + bytes / smallPart;
    size_t count = costs.size() - 1;
    // Unless it is nearly free, a step must lower the total cost of all conversions; otherwise steps could undo each
    // other forever.
    while (count > 0 && (costs[count] > most || (others[count] * smallPart > bytes && costs[count] >= bytes)))
      --count;
    joined.truncate(count);
    return std::move(joined);
  }

private:
  /// Returns the candidates: users in one block and, through element-wise operations, their users.
  SmallVector<Operation *> collect() {
    llvm::SetVector<Operation *> found;
    Block *block = convert->user_begin()->getBlock();
    SmallVector<Value> values{convert.getResult()};
    while (!values.empty() && found.size() < maxFollowers)
      for (Operation *user : values.pop_back_val().getUsers())
        if (user->getBlock() == block && getResultLayout(user, layout) && found.insert(user) && isElementwise(user))
          values.push_back(user->getResult(0));
    SmallVector<Operation *> ordered = found.takeVector();
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return ordered;
  }

  /// Adds an operation to the followers. Returns false if this would cost more than the conversion.
  bool join(Operation *op) {
    int64_t cost = 0;
    SmallVector<Value> planned;
    SmallVector<LayoutSlice> slices;
    for (Value operand : op->getOperands()) {
      if (operand == convert || isComputed(operand) || !isa<RankedTensorType>(operand.getType()) ||
          priced.contains(operand))
        continue;
      // Loop-invariant operands are converted before the loop.
      auto loop = op->getParentOfType<LoopLikeOpInterface>();
      int64_t share = loop && loop.isDefinedOutsideOfLoop(operand) ? smallPart : 1;
      LayoutSlice slice = slicer.plan(operand, layout, share * bytes + 1);
      cost += slice.cost / share;
      planned.push_back(operand);
      slices.push_back(std::move(slice));
    }
    if (otherBytes + cost > bytes)
      return false;
    for (const LayoutSlice &slice : slices)
      recreated.insert_range(slice.recreated);
    otherBytes += cost;
    priced.insert(planned.begin(), planned.end());
    joined.push_back(op);
    members.insert(op);
    return true;
  }

  bool isComputed(Value value) {
    Operation *op = value.getDefiningOp();
    return op && members.contains(op) && isElementwise(op);
  }

  /// Returns the total size of values that are needed in another layout.
  int64_t frontierBytes() {
    int64_t sum = frontierBytesOf(convert);
    for (Operation *op : joined)
      sum += frontierBytesOf(op);
    return sum;
  }

  int64_t frontierBytesOf(Operation *op) {
    int64_t sum = 0;
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && llvm::any_of(result.getUses(), [&](OpOperand &use) {
            Operation *user = use.getOwner();
            return !members.contains(user) && !isa<DescStoreOp, cta::LocalStoreOp>(user) && !undoes(user) &&
                   !isCarriedOn(use);
          }))
        sum += LayoutSlicer::bytesOf(result);
    return sum;
  }

  bool undoes(Operation *user) {
    auto next = dyn_cast<ConvertLayoutOp>(user);
    return next && cta::getLayoutAttr(next.getType()) == layout;
  }

  /// Returns true if the use feeds a loop-carried value that is also recreated in the new layout, so that it needs no
  /// conversion.
  bool isCarriedOn(OpOperand &use) {
    std::optional<CarriedValue> fed = CarriedValue::fedBy(use);
    return fed && recreated.contains({fed->values.front(), layout});
  }

  ConvertLayoutOp convert;
  LayoutSlicer &slicer;
  cta::LayoutAttr layout;
  int64_t bytes, otherBytes = 0;
  int64_t smallPart; ///< Values that are this many times smaller than the converted one may be converted instead.
  llvm::DenseSet<std::pair<Value, cta::LayoutAttr>> recreated; ///< Values recreated for other operands.
  SmallVector<Operation *> joined;
  llvm::DenseSet<Operation *> members;
  llvm::DenseSet<Value> priced; ///< Other operands whose conversion is included in `otherBytes`.
};

/// The conversions still to be visited. An entry is valid as long as the conversion exists.
class Worklist {
public:
  explicit Worklist(Operation *root) {
    root->walk([&](ConvertLayoutOp convert) { push(convert); });
    // Inner loops come first, because their decisions about carried values matter most.
    llvm::stable_sort(order, [](Operation *a, Operation *b) { return depthOf(a) > depthOf(b); });
    std::reverse(order.begin(), order.end());
  }

  void push(ConvertLayoutOp convert) {
    order.push_back(convert);
    waiting.insert(convert);
  }

  ConvertLayoutOp pop() {
    while (!order.empty()) {
      Operation *op = order.pop_back_val();
      if (waiting.erase(op))
        return cast<ConvertLayoutOp>(op);
    }
    return {};
  }

  void erase(Operation *op) {
    waiting.erase(op);
    op->erase();
  }

  /// Erases operations that compute only these values.
  void eraseDead(ValueRange values) {
    eraseIfUnused(values, [&](Operation *op) { waiting.erase(op); });
  }

private:
  static unsigned depthOf(Operation *op) {
    unsigned depth = 0;
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      depth += isa<LoopLikeOpInterface>(parent);
    return depth;
  }

  SmallVector<Operation *> order; // the next candidate is the last
  llvm::DenseSet<Operation *> waiting;
};

/// Makes conversions of the result of `convert` start from its source.
void foldUsers(ConvertLayoutOp convert, Worklist &worklist) {
  for (Operation *user : llvm::make_early_inc_range(convert->getUsers())) {
    auto next = dyn_cast<ConvertLayoutOp>(user);
    if (!next)
      continue;
    if (next.getType() == convert.getSrc().getType()) {
      next.getResult().replaceAllUsesWith(convert.getSrc());
      worklist.erase(next);
    } else {
      next.getSrcMutable().assign(convert.getSrc());
    }
  }
}

/// Clones an operation with its operands in `layout`, and converts the results back.
void computeIn(cta::LayoutAttr layout, Operation *user, LayoutSlicer &slicer, Worklist &worklist) {
  // Operands are addressed by index, because converting one may replace operands of `user` itself (see LayoutSlicer).
  OpBuilder builder(user);
  SmallVector<Value> operands;
  for (unsigned i = 0; i < user->getNumOperands(); ++i)
    operands.push_back(slicer.rewrite(user->getOperand(i), layout));
  builder.setInsertionPoint(user);
  Operation *clone = builder.clone(*user);
  clone->setOperands(operands);
  for (auto [old, result] : llvm::zip(user->getResults(), clone->getResults())) {
    auto type = dyn_cast<RankedTensorType>(old.getType());
    if (!type) {
      old.replaceAllUsesWith(result);
      continue;
    }
    result.setType(cta::withLayout(type, getResultLayout(user, layout)));
    builder.setInsertionPointAfter(clone);
    auto back = ConvertLayoutOp::create(builder, user->getLoc(), type, result);
    old.replaceAllUsesWith(back);
    foldUsers(back, worklist);
    worklist.push(back);
  }
  SmallVector<Value> oldOperands(user->getOperands());
  user->erase();
  worklist.eraseDead(oldOperands);
}

/// Sinks a conversion below a branch that is its only user and yields its result, for example unchanged on one side and
/// masked on the other. The branch then yields the source's layout.
bool sinkBelowBranch(ConvertLayoutOp convert, LayoutSlicer &slicer) {
  int64_t bytes = LayoutSlicer::bytesOf(convert.getSrc());
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getSrc().getType());
  for (OpOperand &use : convert->getUses()) {
    auto branch = dyn_cast<scf::IfOp>(use.getOwner()->getParentOp());
    if (!isa<scf::YieldOp>(use.getOwner()) || !branch || branch->getBlock() != convert->getBlock() ||
        !llvm::all_of(convert->getUsers(), [&](Operation *user) { return branch->isProperAncestor(user); }))
      continue;
    Value result = branch.getResult(use.getOperandNumber());
    // Sinks only if this costs no more than converting the branch's result.
    if (slicer.plan(result, layout, bytes + 1).cost > bytes)
      continue;
    slicer.rewrite(result, layout);
    return true;
  }
  return false;
}

/// Returns true if the value is only stored to buffers, in wider accesses without the conversion.
bool isStoredWiderUnconverted(ConvertLayoutOp convert) {
  return llvm::all_of(convert->getUsers(), [&](Operation *user) {
    auto store = dyn_cast<cta::LocalStoreOp>(user);
    auto widthOf = [&](Value value) {
      const layout::LinearLayout &buffer = store.getBuffer().getType().getLayout().getLayout();
      return layout::planVectorAccess(layout::memoryOffsets(cta::getLayout(value.getType()), buffer),
                                      getBytesInMemory(getElementTypeOf(value.getType())))
          .elements;
    };
    return store && widthOf(convert.getSrc()) > widthOf(convert.getResult());
  });
}

/// Makes writes through descriptors and to buffers, which accept any layout, take the unconverted value.
bool storeUnconverted(ConvertLayoutOp convert) {
  bool changed = false;
  for (OpOperand &use : llvm::make_early_inc_range(convert->getUses()))
    if (isa<DescStoreOp, cta::LocalStoreOp>(use.getOwner())) {
      use.set(convert.getSrc());
      changed = true;
    }
  return changed;
}

/// Sinks a conversion below its users.
bool sinkConversion(ConvertLayoutOp convert, LayoutSlicer &slicer, Worklist &worklist) {
  bool changed = storeUnconverted(convert);
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getSrc().getType());
  SmallVector<Operation *> followers;
  if (sinkBelowBranch(convert, slicer))
    return true;
  if (!convert->use_empty())
    followers = Followers(convert, slicer).plan();
  // The conversion is visited again for its remaining uses, unless it is erased together with the followers.
  if (changed || !followers.empty())
    worklist.push(convert);
  // If an operand is the result of an earlier follower, it is found by looking through the conversion back.
  for (Operation *op : followers)
    computeIn(layout, op, slicer, worklist);
  return changed || !followers.empty();
}

bool rematerialise(ConvertLayoutOp convert, LayoutSlicer &slicer, Worklist &worklist) {
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getType());
  int64_t bytes = LayoutSlicer::bytesOf(convert.getSrc());
  // Conversions that become unnecessary compensate for new ones, but not for much duplicated computation, nor for
  // computation on more elements per thread.
  const size_t maxRecomputed = target::tunedOf(cta::getTarget(convert)).recomputedValues;
  bool takesMore = layout.getLayout().numRegisters() > cta::getLayout(convert.getSrc().getType()).numRegisters();
  LayoutSlice slice = slicer.plan(convert.getSrc(), layout, /*limit=*/2 * bytes, /*offsets=*/true);
  if (slice.netCost() >= bytes)
    return false;
  if (slice.cost >= bytes && (takesMore || slice.countComputedTwice() > maxRecomputed)) {
    slice = slicer.plan(convert.getSrc(), layout, /*limit=*/2 * bytes);
    if (slice.cost >= bytes)
      return false;
  }
  Value value = slicer.rewrite(convert.getSrc(), layout, slice.offsets), source = convert.getSrc();
  convert.getResult().replaceAllUsesWith(value);
  convert.erase();
  worklist.eraseDead(source);
  return true;
}

/// Converts the vector itself rather than the row or column to which it is expanded: this takes only shuffles, or the
/// vector is loaded in the layout that is needed.
void convertVector(ConvertLayoutOp convert) {
  auto expand = convert.getSrc().getDefiningOp<ExpandDimsOp>();
  if (!expand)
    return;
  OpBuilder builder(convert.getContext());
  builder.setInsertionPointAfterValue(expand.getSrc());
  cta::LayoutAttr layout = cast<cta::LayoutInterface>(*expand).getOperandLayout(cta::getLayoutAttr(convert.getType()));
  Value vector = ConvertLayoutOp::create(builder, convert.getLoc(), cta::withLayout(expand.getSrc().getType(), layout),
                                         expand.getSrc());
  builder.setInsertionPoint(expand);
  convert.replaceAllUsesWith(
      cast<cta::LayoutInterface>(*expand).recreate(builder, vector, convert.getType(), /*part=*/{}));
  convert.erase();
  eraseIfUnused(expand.getResult());
}

struct CtaRemoveConversions : tile::impl::CtaRemoveConversionsBase<CtaRemoveConversions> {
  void runOnKernel() override {
    RewritePatternSet set(&getContext());
    ConvertLayoutOp::getCanonicalizationPatterns(set, &getContext());
    FrozenRewritePatternSet patterns = freezeWithLoops(std::move(set));
    LayoutSlicer slicer;
    getOperation().walk([&](ConvertLayoutOp) { stepsLeft += stepsPerConversion; });
    do // Folds conversions of conversions and removes unused values, including those that only loops keep alive.
      (void)applyPatternsGreedily(getOperation(), patterns);
    while (removeSome(slicer));
    getOperation().walk(convertVector);
  }

private:
  /// Tries every conversion and those that result from it, but stops after a loop's value has changed its layout: that
  /// leaves conversions that only canonicalization removes. Returns false if there was nothing to remove.
  bool removeSome(LayoutSlicer &slicer) {
    Worklist worklist(getOperation());
    size_t carriedChanges = slicer.numCarriedChanges();
    bool changed = false;
    while (slicer.numCarriedChanges() == carriedChanges) {
      ConvertLayoutOp convert = worklist.pop();
      if (!convert)
        break;
      if (stepsLeft == 0)
        return false;
      --stepsLeft;
      // Runs first: otherwise widened values that are stored would be recreated from fewer bytes, in a layout with
      // narrower stores.
      if (isStoredWiderUnconverted(convert))
        changed |= storeUnconverted(convert);
      if (convert->use_empty()) {
        worklist.eraseDead(convert.getResult());
        continue;
      }
      changed |= rematerialise(convert, slicer, worklist) || sinkConversion(convert, slicer, worklist);
    }
    return changed;
  }

  /// The maximum number of steps per conversion. The kernels of examples and tests take at most three. A binary search
  /// that was unrolled 128 times had slices that are too long to be planned, and its conversions were replaced by new
  /// ones again and again: with a maximum of 64, compilation took 42 s.
  static constexpr size_t stepsPerConversion = 16;
  size_t stepsLeft = 0;
};

} // namespace
