// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-split-stores: store a large matrix panel by panel.
//
// Storing from the layout of an accumulator is slow, so the matrix goes through shared memory. Storing the whole matrix
// at once would take shared memory for the whole matrix, and every thread would hold the addresses and masks of all of
// its elements. Instead, one panel of columns after the other goes through a small buffer:
//
//   %y = cta.convert_layout %x : #acc -> #rows          for each panel p:  cta.local_store (columns p of %x), %buffer
//   tile.store %ptrs, %y mask %m                  ==>                      %y = cta.local_load %buffer : #panel
//                                                                          tile.store (columns p of %ptrs), %y mask …
//
// In #panel each warp writes the rows of its own accumulators, so warp groups do not wait for each other. Element-wise
// computations of %x are also split into panels. Consecutive stores, such as those of several gradients, alternate
// panel by panel: common inputs are computed once and have short live ranges. A branch in a loop has a private buffer,
// whose memory the remainder of the loop can use.
#include "Analysis/Flow/Recreate.h"
#include "Layout/Movement.h"
#include "Target/Tuned.h"
#include "Tile/TileDialect.h"
#include "Transforms/Cta/ColumnSlice.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tile {
#define GEN_PASS_DEF_CTASPLITSTORES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// The plan of a store that is written panel by panel.
struct StorePlan {
  StoreOp store;
  cta::ConvertLayoutOp convert;
  cta::LayoutAttr slice; ///< The layout of a panel's accumulators.
  cta::LayoutAttr rows;  ///< The layout in which the panel is stored.
  int64_t columns;

  RankedTensorType getType() { return convert.getType(); }
  /// Returns the type of a panel in the given layout: `slice` before the conversion, or `rows` after it.
  RankedTensorType getPanel(cta::LayoutAttr layout) {
    return RankedTensorType::get(rows.getLayout().outShape(), getType().getElementType(), layout);
  }
};

std::optional<StorePlan> plan(StoreOp store) {
  auto convert = store.getValue().getDefiningOp<cta::ConvertLayoutOp>();
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  if (!convert || !convert->hasOneUse() || convert->getBlock() != store->getBlock() || !type || type.getRank() != 2 ||
      !canRecreateColumns(store.getPtr()) || (store.getMask() && !canRecreateColumns(store.getMask())))
    return std::nullopt;
  const LinearLayout &acc = cta::getLayout(convert.getSrc().getType());
  if (layout::planMovement(acc, cta::getLayout(type)).kind != layout::MovementKind::shared)
    return std::nullopt;
  const int64_t panelElements = target::tunedOf(cta::getTarget(store)).storePanelElements;
  int64_t columns = panelElements * layout::lanesPerWarp * acc.numWarps() / type.getDimSize(0);
  // The elements that one access stores must be in one row of a panel.
  if (columns > 0)
    columns = std::max<int64_t>(columns, store.getVector());
  if (columns == 0 || columns >= type.getDimSize(1))
    return std::nullopt;
  std::optional<cta::LayoutAttr> slice = sliceLayout(convert.getSrc().getType(), columns);
  std::optional<LinearLayout> rows =
      slice ? planRowAccess(slice->getLayout(), cta::getLayout(type), store.getVector()) : std::nullopt;
  if (!rows)
    return std::nullopt;
  return StorePlan{store, convert, *slice, cta::LayoutAttr::get(store.getContext(), *rows), columns};
}

/// Returns the matrices from which `matrix` is computed element by element in its block, except itself and constants.
DenseSet<Value> findInputs(Value matrix) {
  DenseSet<Value> inputs;
  SmallVector<Value> values{matrix};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != matrix.getParentBlock() || !isElementwise(op))
      continue;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      bool isMatrix = type && type.getShape() == cast<RankedTensorType>(matrix.getType()).getShape();
      if (isMatrix && !matchPattern(operand, m_Constant()) && inputs.insert(operand).second)
        values.push_back(operand);
    }
  }
  return inputs;
}

/// Returns true if the panels of `next` can alternate with those of the preceding stores: it shares inputs with them,
/// has another destination and panels of the same columns, and no operation in between has effects.
bool isWrittenWith(MutableArrayRef<StorePlan> group, StorePlan next) {
  StorePlan last = group.back();
  if (next.store->getBlock() != last.store->getBlock() || next.columns != last.columns ||
      next.getType().getShape() != last.getType().getShape())
    return false;
  PointerBases written = PointerBases::of(next.store.getPtr());
  for (StorePlan other : group)
    if (PointerBases::of(other.store.getPtr()).mayOverlap(written))
      return false;
  for (Operation *op = last.store->getNextNode(); op != next.store; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return false;
  DenseSet<Value> inputs = findInputs(next.convert.getSrc());
  return llvm::any_of(findInputs(last.convert.getSrc()), [&](Value input) { return inputs.contains(input); });
}

void split(MutableArrayRef<StorePlan> group) {
  StoreOp last = group.back().store;
  OpBuilder builder(last);
  PointerBases written;
  SmallVector<Value> matrices, buffers;
  SmallVector<Operation *> users;
  DenseMap<std::pair<Type, Type>, Value> bufferOf;
  for (StorePlan &plan : group) {
    plan.convert->moveBefore(last);
    written.join(PointerBases::of(plan.store.getPtr()));
    matrices.push_back(plan.convert.getSrc());
    users.push_back(plan.convert);
    // All panels of the same types use one buffer, in which each warp accesses only its own rows.
    RankedTensorType from = plan.getPanel(plan.slice), to = plan.getPanel(plan.rows);
    Value &buffer = bufferOf[{from, to}];
    if (!buffer)
      buffer = allocatePanel(builder, plan.store.getLoc(), from, to);
    buffers.push_back(buffer);
  }
  int64_t columns = group.front().columns, all = group.front().getType().getDimSize(1);
  ColumnSlicer slicer(matrices, users, written, columns);
  slicer.load(builder, 0);
  for (int64_t first = 0; first < all; first += columns) {
    if (first + columns < all)
      slicer.load(builder, first + columns);
    for (auto [plan, matrix, buffer] : llvm::zip(group, matrices, buffers)) {
      StoreOp store = plan.store;
      Location loc = store.getLoc();
      cta::LocalStoreOp::create(builder, loc, slicer.slice(builder, matrix, first), buffer, /*first=*/false);
      Value loaded = cta::LocalLoadOp::create(builder, loc, plan.getPanel(plan.rows), buffer, /*start=*/{});
      Value ptr = recreateColumns(builder, store.getPtr(), first, columns, plan.rows), mask;
      if (store.getMask())
        mask = recreateColumns(builder, store.getMask(), first, columns, plan.rows);
      auto part = cast<StoreOp>(builder.clone(*store));
      part.getPtrMutable().assign(ptr);
      part.getValueMutable().assign(loaded);
      if (mask)
        part.getMaskMutable().assign(mask);
    }
  }
  for (StorePlan &plan : group) {
    SmallVector<Value> operands(plan.store->getOperands());
    plan.store.erase();
    eraseIfUnused(operands);
  }
}

struct CtaSplitStores : tile::impl::CtaSplitStoresBase<CtaSplitStores> {
  void runOnKernel() override {
    SmallVector<StorePlan> group;
    auto splitGroup = [&] {
      if (!group.empty())
        split(group);
      group.clear();
    };
    SmallVector<StoreOp> stores;
    getOperation().walk([&](StoreOp store) { stores.push_back(store); });
    for (StoreOp store : stores) {
      std::optional<StorePlan> next = plan(store);
      if (!next || (!group.empty() && !isWrittenWith(group, *next)))
        splitGroup();
      if (next)
        group.push_back(*next);
    }
    splitGroup();
  }
};

} // namespace
