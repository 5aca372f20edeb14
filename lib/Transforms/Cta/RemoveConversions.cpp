// cta-remove-conversions: compute values in the layout in which they are needed.
//
// Backward: for `c = convert(v -> L)`, collect the operations that compute v. If they are cheap (constants, ranges,
// arithmetic, shape changes), or the leaves of that slice are cheaper to convert than v, clone the slice in layout L.
// A slice may go around a loop: then the loop carries the value in L instead.
// Forward: `op(convert(v))` becomes `convert(op(v))` when the other operands can be had in v's layout for next to
// nothing; the conversion moves down towards a store or meets one that undoes it.
//
//   %c = convert(%acc : #mma -> #default)                       %r = arith.truncf %acc : #mma
//   %r = arith.truncf %c                        == forward ==>  %s = convert(%r : #mma -> #store)
//   %s = convert(%r : #default -> #store)
//
// Both repeat until nothing changes. Every step lowers the bytes that conversions move, or leaves them and moves one
// conversion down, and a loop's value changes its layout once, so the process ends.
#include "Layout/ShapeTransforms.h"
#include "Transforms/Cta/LayoutSlice.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
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

/// `op` computes each result element from the operand elements at the same place.
bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<AddPtrOp>(op));
}

/// Of a result with this shape, if the operands have layout `layout`.
cta::LayoutAttr resultLayout(Operation *op, cta::LayoutAttr layout, ArrayRef<int64_t> shape) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return cta::LayoutAttr::get(op->getContext(), layout::removeDim(layout.getLayout(), reduce.getAxis()));
  if (isa<ReshapeOp>(op))
    return cta::LayoutAttr::get(op->getContext(), layout::reshape(layout.getLayout(), {shape.begin(), shape.end()}));
  if (auto trans = dyn_cast<TransOp>(op)) {
    std::vector<unsigned> order(trans.getOrder().begin(), trans.getOrder().end());
    return cta::LayoutAttr::get(op->getContext(), layout::permuteDims(layout.getLayout(), order));
  }
  return layout;
}

/// What is this many times smaller than the converted value may be converted instead of it.
constexpr int64_t smallPart = 8;

int64_t bytesOfResults(Operation *op) {
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += isa<RankedTensorType>(result.getType()) ? LayoutSlicer::bytesOf(result) : 0;
  return bytes;
}

/// Whether all users can have the source's layout instead, so that what is converted of their results is about as much
/// at most: a maximum of the rows and a difference from it, but not two sums with something else.
bool canSink(ConvertLayoutOp convert, ArrayRef<Operation *> users, LayoutSlicer &slicer) {
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getSrc().getType());
  int64_t bytes = LayoutSlicer::bytesOf(convert.getSrc()), cost = 0, resultBytes = 0;
  for (Operation *user : users) {
    if (!isElementwise(user) && !isa<ReduceOp, ReshapeOp, TransOp>(user))
      return false;
    resultBytes += bytesOfResults(user);
    // The other operands must be nearly free in that layout: a vector that is added to each row may be converted.
    for (Value operand : user->getOperands())
      if (operand != convert && isa<RankedTensorType>(operand.getType()))
        cost += slicer.plan(operand, layout, bytes + 1).cost;
    if (cost * smallPart > bytes)
      return false;
  }
  return resultBytes <= bytes + bytes / smallPart;
}

/// The conversions still to be looked at. An entry counts as long as the conversion exists.
class Worklist {
public:
  explicit Worklist(Operation *root) {
    root->walk([&](ConvertLayoutOp convert) { push(convert); });
    // Inner loops first: what they decide about carried values is worth most.
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

  /// Erases what computes these values and nothing else. Loops are left to the canonicalisation.
  void eraseDead(SmallVector<Value> values) {
    while (!values.empty()) {
      Operation *op = values.pop_back_val().getDefiningOp();
      if (!op || op->getNumRegions() != 0 || !isOpTriviallyDead(op))
        continue;
      values.append(op->operand_begin(), op->operand_end());
      // An operand may occur twice.
      llvm::sort(values, [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
      values.erase(llvm::unique(values), values.end());
      llvm::erase_if(values, [&](Value value) { return value.getDefiningOp() == op; });
      erase(op);
    }
  }

private:
  static unsigned depthOf(Operation *op) {
    unsigned depth = 0;
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      depth += isa<LoopLikeOpInterface>(parent);
    return depth;
  }

  SmallVector<Operation *> order; // the next one is the last
  llvm::DenseSet<Operation *> waiting;
};

/// Conversions of what `convert` converts to start from its source.
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

/// Clones the user of a conversion with its operands in `layout`, and converts the results back.
void sinkBelow(Operation *user, ConvertLayoutOp convert, cta::LayoutAttr layout, LayoutSlicer &slicer,
               Worklist &worklist) {
  // By index: having an operand in another layout may replace operands of `user` itself (see LayoutSlicer).
  OpBuilder builder(user);
  SmallVector<Value> operands, oldOperands;
  for (unsigned i = 0; i < user->getNumOperands(); ++i) {
    Value operand = user->getOperand(i);
    operands.push_back(operand == convert ? convert.getSrc() : slicer.rewrite(operand, layout));
  }
  builder.setInsertionPoint(user);
  Operation *clone = builder.clone(*user);
  clone->setOperands(operands);
  for (auto [old, result] : llvm::zip(user->getResults(), clone->getResults())) {
    auto type = dyn_cast<RankedTensorType>(old.getType());
    if (!type) {
      old.replaceAllUsesWith(result);
      continue;
    }
    result.setType(cta::withLayout(type, resultLayout(user, layout, type.getShape())));
    builder.setInsertionPointAfter(clone);
    auto back = ConvertLayoutOp::create(builder, user->getLoc(), type, result);
    old.replaceAllUsesWith(back);
    foldUsers(back, worklist);
    worklist.push(back);
  }
  for (Value operand : user->getOperands())
    if (operand != convert && !llvm::is_contained(oldOperands, operand))
      oldOperands.push_back(operand);
  user->erase();
  worklist.eraseDead(std::move(oldOperands));
}

/// Moves a conversion below its users, first to last.
bool sinkConversion(ConvertLayoutOp convert, LayoutSlicer &slicer, Worklist &worklist) {
  SmallVector<Operation *> users =
      llvm::to_vector(llvm::SetVector<Operation *>(convert->user_begin(), convert->user_end()));
  // A write through a descriptor takes its value in any layout.
  if (auto store = users.size() == 1 ? dyn_cast<DescStoreOp>(users.front()) : DescStoreOp()) {
    store.getValueMutable().assign(convert.getSrc());
    convert.erase();
    return true;
  }
  if (users.empty() ||
      !llvm::all_of(users, [&](Operation *user) { return user->getBlock() == users[0]->getBlock(); }) ||
      !canSink(convert, users, slicer))
    return false;
  llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (users.size() > 1)
    worklist.push(convert); // one user at a time: to have the operands of one in another layout may replace the next's
  sinkBelow(users.front(), convert, cta::getLayoutAttr(convert.getSrc().getType()), slicer, worklist);
  if (users.size() == 1)
    convert.erase();
  return true;
}

bool rematerialise(ConvertLayoutOp convert, LayoutSlicer &slicer, Worklist &worklist) {
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getType());
  int64_t bytes = LayoutSlicer::bytesOf(convert.getSrc());
  if (slicer.plan(convert.getSrc(), layout, bytes).cost >= bytes)
    return false;
  Value value = slicer.rewrite(convert.getSrc(), layout), source = convert.getSrc();
  convert.getResult().replaceAllUsesWith(value);
  convert.erase();
  worklist.eraseDead({source});
  return true;
}

struct CtaRemoveConversions : tile::impl::CtaRemoveConversionsBase<CtaRemoveConversions> {
  void runOnOperation() override {
    RewritePatternSet set(&getContext());
    ConvertLayoutOp::getCanonicalizationPatterns(set, &getContext());
    scf::ForOp::getCanonicalizationPatterns(set, &getContext());
    FrozenRewritePatternSet patterns(std::move(set));
    LayoutSlicer slicer;
    do // Folds conversions of conversions and removes what no longer has a use, also what only loops keep alive.
      (void)applyPatternsGreedily(getOperation(), patterns);
    while (removeSome(slicer));
  }

private:
  /// Tries every conversion and what it becomes, but no more after a loop's value has changed its layout: that leaves
  /// conversions which only the canonicalisation removes. False if there was nothing to remove.
  bool removeSome(LayoutSlicer &slicer) {
    Worklist worklist(getOperation());
    size_t carriedChanges = slicer.numCarriedChanges();
    bool changed = false;
    while (slicer.numCarriedChanges() == carriedChanges) {
      ConvertLayoutOp convert = worklist.pop();
      if (!convert)
        break;
      if (convert->use_empty()) {
        worklist.eraseDead({convert.getResult()});
        continue;
      }
      changed |= rematerialise(convert, slicer, worklist) || sinkConversion(convert, slicer, worklist);
    }
    return changed;
  }
};

} // namespace
