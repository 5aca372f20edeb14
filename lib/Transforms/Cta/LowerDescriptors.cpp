// cta-lower-descriptors: read and write blocks by TMA.
//
// A read is copied into a buffer, awaited at once; its users load from there. The layout is row-major with the widest
// swizzle, which is what a matrix descriptor of wgmma can say. A write goes through a ring of two panels, so that the
// next panel is filled while TMA reads the one before, and the last ones while the program goes on. What %x is computed
// from is computed for each panel (ColumnSlice.h):
//
//   tile.desc_store %d[%i, %j], %x     ==>   for each panel p:  cta.tma_store_wait 1; store of %x's columns; fence;
//                                                               cta.tma_store %panel[p % 2], %d[%i, %j + p * columns]
//                                            before tile.return:  cta.tma_store_wait 0
//
// Leading dimensions of the block that have size 1 are coordinates only: buffers are matrices.
//
// The box and the swizzle that the buffers need become part of the descriptor's tensor map, which the launcher makes,
// or the kernel, where the descriptor has a place for it.
#include "Analysis/DotPlan.h"
#include "Cta/CtaDialect.h"
#include "Layout/Factories.h"
#include "Layout/MmaLayouts.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Layout/TmaBoxes.h"
#include "Transforms/Cta/ColumnSlice.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Buffers that a write of several panels fills in turns, from slot 0 on.
constexpr int64_t storeSlots = 2;

cta::BufferType planBuffer(ArrayRef<int64_t> block, Type element) {
  SmallVector<int64_t> padded = getPaddedShape(block);
  std::vector<int64_t> shape(padded.begin(), padded.end());
  unsigned bytes = getBytesInMemory(element);
  std::vector<unsigned> order;
  for (unsigned dim = shape.size(); dim-- > 0;)
    order.push_back(dim);
  unsigned swizzle = shape.size() == 2 ? layout::chooseSwizzle(shape, bytes, order) : 0;
  // Panels must divide a row that is no power of two, or the last would reach into the next block.
  while (block.back() * bytes % std::max(swizzle, 1u) != 0)
    swizzle = swizzle > 32 ? swizzle / 2 : 0;
  auto layout = cta::LayoutAttr::get(element.getContext(), layout::swizzledShared(shape, bytes, order, swizzle));
  return cta::BufferType::get(element.getContext(), block, element, layout, /*slots=*/1);
}

/// The panel of the block's buffer that one box fills, if each thread can pick its columns of it; else the block. Of a
/// block with fewer columns than the value has, panels hold a number of columns that divides the block's.
cta::BufferType planPanel(RankedTensorType value, int64_t columns) {
  cta::BufferType whole = planBuffer(value.getShape(), value.getElementType());
  std::optional<layout::SwizzleForm> form =
      layout::matchSwizzle(whole.getLayout().getLayout(), getBytesInMemory(value.getElementType()));
  if (value.getRank() != 2 || !form)
    return whole;
  int64_t panel = std::min(form->panelElements, columns & -columns);
  if (!layout::sliceDim(cta::getLayout(value), 1, panel))
    return whole;
  return planBuffer({value.getDimSize(0), panel}, value.getElementType());
}

/// A layout whose threads have all columns of their rows.
layout::LinearLayout planRows(RankedTensorType matrix) {
  int64_t warps = cta::getLayout(matrix).numWarps();
  return layout::blocked(matrix.getShape().vec(), {{1, 1}, {int64_t(1) << layout::laneBits, 1}, {warps, 1}, {1, 0}});
}

/// The warp groups that can copy their rows of the panel by themselves, or 1.
int64_t planGroups(cta::BufferType panel, RankedTensorType value) {
  const layout::LinearLayout &layout = cta::getLayout(value);
  int64_t groups = layout.numWarps() / 4;
  bool splits = groups > 1 && layout::splitsRows(layout, groups) && panel.firstRows(panel.getShape()[0] / groups);
  return splits ? groups : 1;
}

class DescriptorLowering {
public:
  explicit DescriptorLowering(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> accesses;
    kernel.walk([&](Operation *op) {
      if (isa<DescLoadOp, DescStoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      auto load = dyn_cast<DescLoadOp>(op);
      if (failed(load ? lowerLoad(load) : lowerStore(cast<DescStoreOp>(op))))
        return failure();
    }
    if (hasStores) {
      // Shared memory must outlive the copies that read it.
      builder.setInsertionPoint(kernel.getBody().front().getTerminator());
      cta::TmaStoreWaitOp::create(builder, kernel.getLoc(), 0);
    }
    return success();
  }

private:
  LogicalResult lowerLoad(DescLoadOp load) {
    builder.setInsertionPoint(load);
    Location loc = load.getLoc();
    RankedTensorType result = load.getType();
    cta::BufferType type = planBuffer(dropLeadingOnes(load.getDesc().getType().getShape()), result.getElementType());
    if (failed(setTensorMap(load, load.getDesc(), type)))
      return failure();
    Value buffer = cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
    Value barrier = cta::MbarrierAllocOp::create(builder, loc, cta::MbarrierType::get(kernel.getContext(), 1),
                                                 /*arrivals=*/1, /*offset=*/IntegerAttr());
    cta::TmaLoadSyncOp::create(builder, loc, load.getDesc(), load.getOffsets(), buffer, barrier);
    RankedTensorType matrix = reshaped(result, dropLeadingOnes(result.getShape()));
    Value loaded = cta::LocalLoadOp::create(builder, loc, matrix, buffer);
    load.replaceAllUsesWith(matrix == result ? loaded : ReshapeOp::create(builder, loc, result, loaded));
    load.erase();
    return success();
  }

  LogicalResult lowerStore(DescStoreOp store) {
    Location loc = store.getLoc();
    RankedTensorType block = store.getValue().getType(), value = reshaped(block, dropLeadingOnes(block.getShape()));
    builder.setInsertionPoint(store);
    Value matrix = store.getValue();
    if (value != block)
      matrix = ReshapeOp::create(builder, loc, value, matrix);
    int64_t width = store.getDesc().getType().getShape().back();
    cta::BufferType panel = planPanel(value, width);
    if (width % panel.getShape().back() != 0) {
      value = cta::withLayout(value, cta::LayoutAttr::get(kernel.getContext(), planRows(value)));
      matrix = cta::ConvertLayoutOp::create(builder, loc, value, matrix);
      panel = planPanel(value, width);
    }
    int64_t columns = panel.getShape().back(), count = width / columns;
    int64_t slots = std::min(count, storeSlots);
    cta::BufferType ring = panel.withSlots(slots);
    // Warp groups that have rows to themselves need not wait for each other. Their box is smaller than that of others.
    int64_t groups = store.getDesc().hasOneUse() ? planGroups(panel, value) : 1;
    cta::BufferType part = groups > 1 ? panel.firstRows(panel.getShape()[0] / groups) : panel;
    if (failed(setTensorMap(store, store.getDesc(), part)))
      return failure();
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Value buffer = cta::AllocOp::create(builder, loc, ring, /*offset=*/IntegerAttr());
    builder.setInsertionPoint(store);
    std::optional<ColumnSlicer> slicer;
    if (count > 1) {
      slicer.emplace(matrix, store, findBase(store.getDesc()), columns);
      slicer->load(builder, 0);
    }
    for (int64_t index = 0; index < count; ++index) {
      if (index + 1 < count)
        slicer->load(builder, (index + 1) * columns);
      Value part = matrix;
      SmallVector<Value> offsets(store.getOffsets());
      if (count > 1) {
        part = slicer->slice(builder, index * columns);
        offsets.back() = arith::AddIOp::create(builder, loc, offsets.back(), emitI32(loc, index * columns));
      }
      // The write before this one may have ended with slot 0, too.
      bool mayBeLast = index == 0 && count % slots != 0;
      cta::TmaStoreWaitOp::create(builder, loc, mayBeLast ? 0 : slots - 1);
      Value slot = cta::SlotOp::create(builder, loc, panel, buffer, emitI32(loc, index % slots));
      cta::LocalStoreOp::create(builder, loc, part, slot);
      cta::ProxyFenceOp::create(builder, loc);
      cta::TmaStoreOp::create(builder, loc, slot, store.getDesc(), offsets, groups);
    }
    store.erase();
    eraseIfUnused(matrix);
    hasStores = true;
    return success();
  }

  /// The same elements in the same registers under another shape.
  static RankedTensorType reshaped(RankedTensorType type, ArrayRef<int64_t> shape) {
    auto layout = layout::reshape(cta::getLayout(type), {shape.begin(), shape.end()});
    return RankedTensorType::get(shape, type.getElementType(), cta::LayoutAttr::get(type.getContext(), layout));
  }

  Value emitI32(Location loc, int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }

  /// All buffers of a descriptor must have the same box, because it has one tensor map.
  LogicalResult setTensorMap(Operation *access, Value desc, cta::BufferType buffer) {
    std::optional<layout::TmaBoxes> boxes = layout::planTmaBoxes(
        buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()), buffer.getShape().vec());
    if (!boxes)
      return access->emitOpError()
             << "moves blocks of " << RankedTensorType::get(buffer.getShape(), buffer.getElementType())
             << ", which TMA cannot; it moves vectors and matrices with rows of at least 16 bytes";
    SmallVector<int64_t> box(cast<DescType>(desc.getType()).getShape().size() - boxes->shape.size(), 1);
    llvm::append_range(box, boxes->shape);
    if (auto make = desc.getDefiningOp<MakeDescOp>()) {
      makeTensorMap(make, box, boxes->swizzleBytes);
      return success();
    }
    if (auto map = desc.getDefiningOp<cta::MakeTensorMapOp>()) {
      if (map.getBox() != ArrayRef<int64_t>(box) || map.getSwizzle() != boxes->swizzleBytes)
        return access->emitOpError() << "needs box [" << ArrayRef<int64_t>(box) << "] and swizzle "
                                     << boxes->swizzleBytes << " but the descriptor's tensor map has box ["
                                     << map.getBox() << "] and swizzle " << map.getSwizzle();
      return success();
    }
    unsigned index = cast<BlockArgument>(desc).getArgNumber();
    auto map = kernel.getArgAttrOfType<DictionaryAttr>(index, KernelOp::getTensorMapAttrName());
    NamedAttrList entries(map);
    entries.set("box", builder.getDenseI64ArrayAttr(box));
    entries.set("swizzle", builder.getI32IntegerAttr(boxes->swizzleBytes));
    auto updated = entries.getDictionary(kernel.getContext());
    if (map.get("box") && map != updated)
      return access->emitOpError() << "needs box [" << ArrayRef<int64_t>(box) << "] and swizzle " << boxes->swizzleBytes
                                   << " but the descriptor has the tensor map " << map;
    kernel.setArgAttr(index, KernelOp::getTensorMapAttrName(), updated);
    return success();
  }

  /// The kernel makes the map where the program makes the descriptor.
  void makeTensorMap(MakeDescOp make, ArrayRef<int64_t> box, int64_t swizzle) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = make.getLoc();
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Value staging = cta::AllocOp::create(builder, loc, planBuffer({cta::tensorMapBytes}, builder.getI8Type()),
                                         /*offset=*/IntegerAttr());
    builder.setInsertionPoint(make);
    Value map =
        cta::MakeTensorMapOp::create(builder, loc, make.getType(), make.getBase(), make.getShape(), make.getStrides(),
                                     make.getPlace(), staging, make.getNeeded(), box, swizzle, /*single=*/false,
                                     /*warps=*/IntegerAttr());
    make.replaceAllUsesWith(map);
    make.erase();
  }

  KernelOp kernel;
  OpBuilder builder;
  bool hasStores = false;
};

struct CtaLowerDescriptors : tile::impl::CtaLowerDescriptorsBase<CtaLowerDescriptors> {
  void runOnOperation() override {
    if (failed(DescriptorLowering(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
