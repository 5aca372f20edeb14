// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-split-stores: write a large matrix panel by panel.
//
// An accumulator lies across the threads in a way that suits no store, so it goes through shared memory. All at once
// that takes as much of it as the matrix has, and every thread has the addresses and masks of all of its elements.
// Instead, one panel of columns after the other goes through a small buffer:
//
//   %y = cta.convert_layout %x : #acc -> #rows          for each panel p:  cta.local_store (columns p of %x), %buffer
//   tile.store %ptrs, %y mask %m                  ==>                      %y = cta.local_load %buffer : #panel
//                                                                          tile.store (columns p of %ptrs), %y mask …
//
// In #panel each warp writes the rows of its own accumulators, so warp groups do not wait for each other. What %x is
// computed from element by element is computed for each panel, too. A branch in a loop has its buffer to itself: the
// rest of the loop uses the memory.
#include "Analysis/Recreate.h"
#include "Layout/Movement.h"
#include "Tile/TileDialect.h"
#include "Transforms/Cta/ColumnSlice.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_CTASPLITSTORES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// Elements of a panel that each thread writes: their addresses and masks must fit into registers beside the
/// accumulators.
constexpr int64_t panelElements = 32;

class StoreSplit {
public:
  explicit StoreSplit(StoreOp store) : store(store) {}

  void run() {
    auto convert = store.getValue().getDefiningOp<cta::ConvertLayoutOp>();
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    if (!convert || !convert->hasOneUse() || convert->getBlock() != store->getBlock() || !type || type.getRank() != 2 ||
        !canRecreateColumns(store.getPtr()) || (store.getMask() && !canRecreateColumns(store.getMask())))
      return;
    const LinearLayout &acc = cta::getLayout(convert.getSrc().getType());
    if (layout::planMovement(acc, cta::getLayout(type)).kind != layout::MovementKind::shared)
      return;
    columns = panelElements * layout::lanesPerWarp * acc.numWarps() / type.getDimSize(0);
    // What is written at once lies in one row of a panel.
    if (columns > 0)
      columns = std::max<int64_t>(columns, store.getVector());
    if (columns == 0 || columns >= type.getDimSize(1))
      return;
    std::optional<cta::LayoutAttr> slice = sliceLayout(convert.getSrc().getType(), columns);
    std::optional<LinearLayout> rows =
        slice ? planRowAccess(slice->getLayout(), cta::getLayout(type), store.getVector()) : std::nullopt;
    if (rows)
      split(convert, type, *slice, *rows);
  }

private:
  void split(cta::ConvertLayoutOp convert, RankedTensorType type, cta::LayoutAttr slice, const LinearLayout &rows) {
    convert->moveBefore(store);
    Location loc = store.getLoc();
    MLIRContext *context = store.getContext();
    auto layout = cta::LayoutAttr::get(context, rows);
    auto panel = RankedTensorType::get(rows.outShape(), type.getElementType(), layout);
    auto from = RankedTensorType::get(rows.outShape(), type.getElementType(), slice);
    OpBuilder builder(store);
    Value buffer = allocatePanel(builder, loc, from, panel);
    ColumnSlicer slicer(convert.getSrc(), convert, PointerBases::of(store.getPtr()), columns);
    slicer.load(builder, 0);
    for (int64_t first = 0; first < type.getDimSize(1); first += columns) {
      if (first + columns < type.getDimSize(1))
        slicer.load(builder, first + columns);
      cta::LocalStoreOp::create(builder, loc, slicer.slice(builder, first), buffer, /*first=*/false);
      Value loaded = cta::LocalLoadOp::create(builder, loc, panel, buffer, /*start=*/{});
      auto part = cast<StoreOp>(builder.clone(*store));
      part.getPtrMutable().assign(recreateColumns(builder, store.getPtr(), first, columns, layout));
      part.getValueMutable().assign(loaded);
      if (store.getMask())
        part.getMaskMutable().assign(recreateColumns(builder, store.getMask(), first, columns, layout));
      // Operands must stand before the clone.
      part->moveBefore(store);
    }
    SmallVector<Value> operands(store->getOperands());
    store.erase();
    eraseIfUnused(operands);
  }

  StoreOp store;
  int64_t columns = 0;
};

struct CtaSplitStores : tile::impl::CtaSplitStoresBase<CtaSplitStores> {
  void runOnKernel() override {
    SmallVector<StoreOp> stores;
    getOperation().walk([&](StoreOp store) { stores.push_back(store); });
    for (StoreOp store : stores)
      StoreSplit(store).run();
  }
};

} // namespace
