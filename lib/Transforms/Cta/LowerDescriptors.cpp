// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-descriptors: load and store blocks by TMA.
//
// A read is copied into a buffer and awaited immediately; its users load from there, in the layouts that they need. The
// buffer is row-major with the widest swizzle, which a wgmma matrix descriptor can express. A write goes through a ring
// of two panels:
//
//   tile.desc_store %d[%i, %j], %x     ==>   for each panel p:  cta.tma_store_wait 1; store columns of %x; fence;
//                                                               cta.tma_store %panel[p % 2], %d[%i, %j + p * columns]
//                                            before tile.return:  cta.tma_store_wait 0
//
// A write that combines with memory (`reduce`) does so panel by panel.
//
// A block of 144 columns ends in a panel of 16, which a second tensor map describes. In a block that is read, this
// panel takes as much memory as the others, so that one wgmma can step over all of them; in a block that is written it
// has a separate small buffer. 144 rows, as produced by dots with swapped operands, are written in bands of rows in the
// same way.
//
// Leading dimensions of size 1 are coordinates only. The box and the swizzle of the buffers become part of the
// descriptor's tensor map, which is encoded by the launcher or, if the descriptor has a `place` for it, by the kernel.
#include "Analysis/Dots/DotPlan.h"
#include "Analysis/Flow/Recreate.h"
#include "Cta/CtaDialect.h"
#include "Layout/Factories.h"
#include "Layout/MmaLayouts.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Layout/TmaBoxes.h"
#include "Target/Engines/Wgmma.h"
#include "Target/Plan/StorePanels.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/ColumnSlice.h"
#include "Transforms/Cta/Transpositions.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The division of a block whose rows are not a multiple of the widest panel: all panels are narrower (`Equal`), or the
/// last one has fewer columns than the others and a separate box, in another tensor map (`Tail`). Only the launcher can
/// encode two maps of one tensor.
enum class Panels { Equal, Tail };

/// Returns the buffer of a block; null if more than one size of the block is not a power of two.
cta::BufferType planBuffer(ArrayRef<int64_t> block, Type element, Panels panels = Panels::Equal) {
  SmallVector<int64_t> padded = getPaddedShape(block);
  std::vector<int64_t> shape(padded.begin(), padded.end());
  unsigned bytes = getBytesInMemory(element);
  std::vector<unsigned> order;
  for (unsigned dim = shape.size(); dim-- > 0;)
    order.push_back(dim);
  unsigned swizzle = shape.size() == 2 ? layout::chooseSwizzle(shape, bytes, order) : 0;
  bool mayHaveTail = panels == Panels::Tail && block.back() * bytes > swizzle;
  while (!mayHaveTail && block.back() * bytes % std::max(swizzle, 1u) != 0)
    swizzle = swizzle > 32 ? swizzle / 2 : 0;
  auto layout = cta::LayoutAttr::get(element.getContext(), layout::swizzledShared(shape, bytes, order, swizzle));
  if (!layout::usedExtent(layout.getLayout(), {block.begin(), block.end()}))
    return {};
  return cta::BufferType::get(element.getContext(), block, element, layout, /*slots=*/1);
}

/// Returns the buffer for one part of a block that is written part by part along the axis. `size` is the size of the
/// block along the axis, without padding. A part has the size of one panel (target::planStorePanels). Returns a buffer
/// for the whole padded value if it is not a matrix, or if register bits alone do not select the elements of a part.
cta::BufferType planPart(RankedTensorType value, unsigned axis, int64_t size, Panels panels) {
  cta::BufferType whole = planBuffer(value.getShape(), value.getElementType());
  std::optional<layout::SwizzleForm> form =
      layout::matchSwizzle(whole.getLayout().getLayout(), getBytesInMemory(value.getElementType()));
  if (value.getRank() != 2 || !form)
    return whole;
  target::StorePanels plan = target::planStorePanels(size, form->panelElements, panels == Panels::Tail);
  int64_t part = plan.panel;
  if (!layout::sliceDim(cta::getLayout(value), axis, plan.remainder ? std::min(part, plan.remainder) : part))
    return whole;
  SmallVector<int64_t> shape(value.getShape());
  shape[axis] = part;
  return planBuffer(shape, value.getElementType());
}

std::optional<layout::TmaBoxes> planBoxes(cta::BufferType buffer) {
  return layout::planTmaBoxes(buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()),
                              buffer.getShape().vec());
}

/// Returns a layout whose threads hold all columns of their rows (axis 1), or all rows of their columns (axis 0).
layout::LinearLayout planLines(RankedTensorType matrix, unsigned axis) {
  int64_t warps = cta::getLayout(matrix).numWarps(), lanes = int64_t(1) << layout::laneBits;
  bool hasColumns = axis == 1;
  return layout::blocked(matrix.getShape().vec(), {{1, 1},
                                                   {hasColumns ? lanes : 1, hasColumns ? 1 : lanes},
                                                   {hasColumns ? warps : 1, hasColumns ? 1 : warps},
                                                   {1, 0}});
}

/// Returns the number of warp groups that can each copy their share of the part's rows or columns separately, or 1.
int64_t planGroups(cta::BufferType part, RankedTensorType value) {
  const layout::LinearLayout &layout = cta::getLayout(value);
  int64_t groups = layout.numWarps() / 4;
  bool splits = groups > 1 && part.getPart(groups) && layout::splitsAxis(layout, part.getPartAxis(groups), groups);
  return splits ? groups : 1;
}

class DescriptorLowering {
public:
  explicit DescriptorLowering(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  LogicalResult run() {
    if (failed(eraseUnusedMaps()))
      return failure();
    SmallVector<Operation *> accesses;
    kernel.walk([&](Operation *op) {
      if (isa<DescLoadOp, DescStoreOp, CreateTensorMapOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      if (auto create = dyn_cast<CreateTensorMapOp>(op)) {
        if (failed(lowerCreate(create)))
          return failure();
        continue;
      }
      auto load = dyn_cast<DescLoadOp>(op);
      if (failed(load ? lowerLoad(load) : lowerStore(cast<DescStoreOp>(op))))
        return failure();
    }
    readColumns();
    readTransposedBlocks(kernel);
    if (hasStores) {
      // Shared memory must outlive the copies that read it.
      builder.setInsertionPoint(kernel.getBody().front().getTerminator());
      cta::TmaStoreWaitOp::create(builder, kernel.getLoc(), 0, /*written=*/false);
    }
    return success();
  }

private:
  /// Erases maps without accesses: they have no box, so the launcher could not encode them.
  LogicalResult eraseUnusedMaps() {
    for (unsigned index = kernel.getNumArguments(); index-- > 0;)
      if (BlockArgument argument = kernel.getArgument(index);
          isa<DescType>(argument.getType()) && argument.use_empty() && failed(kernel.eraseArgument(index)))
        return failure();
    return success();
  }

  /// Reads columns of a copied block where they are needed, instead of reading the whole block into registers.
  void readColumns() {
    kernel.walk([&](cta::SliceColumnsOp slice) {
      Value block = slice.getSrc();
      while (auto reshape = block.getDefiningOp<ReshapeOp>())
        block = reshape.getSrc();
      auto load = block.getDefiningOp<cta::LocalLoadOp>();
      bool isCopied = load && !load.getStart() && block.getType() == slice.getSrc().getType() &&
                      llvm::any_of(load.getBuffer().getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>);
      if (!isCopied)
        return;
      builder.setInsertionPoint(slice);
      Value columns = cta::LocalLoadOp::create(builder, slice.getLoc(), slice.getType(), load.getBuffer(),
                                               builder.getDenseI32ArrayAttr({0, int32_t(slice.getFirst())}));
      Value whole = slice.getSrc();
      slice.replaceAllUsesWith(columns);
      slice.erase();
      eraseIfUnused(whole);
    });
  }

  LogicalResult lowerLoad(DescLoadOp load) {
    builder.setInsertionPoint(load);
    Location loc = load.getLoc();
    RankedTensorType result = load.getType();
    bool isRead = llvm::all_of(load.getDesc().getUsers(), llvm::IsaPred<DescLoadOp, cta::TmaLoadSyncOp>);
    bool mayHaveTail = isRead && isa<BlockArgument>(load.getDesc());
    cta::BufferType type = planBuffer(dropLeadingOnes(load.getDesc().getType().getShape()), result.getElementType(),
                                      mayHaveTail ? Panels::Tail : Panels::Equal);
    if (failed(setTensorMap(load, load.getDesc(), type)))
      return failure();
    Value &tail = tails[load.getDesc()];
    if (int64_t columns = planBoxes(type)->tailColumns; columns != 0 && !tail)
      tail = addTail(load.getDesc(), /*axis=*/1, columns, type);
    Value buffer = cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
    Value barrier = cta::MbarrierAllocOp::create(builder, loc, cta::MbarrierType::get(kernel.getContext(), 1),
                                                 /*arrivals=*/1, /*offset=*/IntegerAttr());
    cta::TmaLoadSyncOp::create(builder, loc, load.getDesc(), load.getOffsets(), tail, buffer, barrier);
    RankedTensorType matrix = reshaped(result, dropLeadingOnes(result.getShape()));
    if (matrix == result)
      readWhereConverted(load, buffer);
    for (Operation *user : load->getUsers())
      if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && reshape.getType().getShape() == matrix.getShape())
        readWhereConverted(reshape, buffer);
    Value loaded = cta::LocalLoadOp::create(builder, loc, matrix, buffer);
    load.replaceAllUsesWith(matrix == result ? loaded : ReshapeOp::create(builder, loc, result, loaded));
    load.erase();
    return success();
  }

  /// If users need the block, or its transpose, in another layout, makes them read the buffer in that layout. Users in
  /// an inner loop read the buffer before the loop.
  void readWhereConverted(Operation *block, Value buffer) {
    auto isInThisIteration = [&](Operation *op) {
      while (op->getBlock() != block->getBlock()) {
        op = op->getParentOp();
        if (!isa<scf::IfOp>(op))
          return false;
      }
      return true;
    };
    DenseMap<Type, Value> beforeLoops;
    for (Operation *user : llvm::make_early_inc_range(block->getUsers())) {
      if (auto trans = dyn_cast<TransOp>(user); trans && traceOperand(trans).transposed) {
        auto type = cast<cta::BufferType>(buffer.getType());
        auto view = cta::TransBufferOp::create(builder, trans.getLoc(), type.transposed(), buffer);
        readWhereConverted(trans, view);
        if (view->use_empty())
          view.erase();
      } else if (auto convert = dyn_cast<cta::ConvertLayoutOp>(user)) {
        bool isHere = isInThisIteration(convert);
        Value known = isHere ? Value() : beforeLoops.lookup(convert.getType());
        if (!known) {
          OpBuilder::InsertionGuard guard(builder);
          if (isHere)
            builder.setInsertionPoint(convert);
          known = cta::LocalLoadOp::create(builder, convert.getLoc(), convert.getType(), buffer);
          if (!isHere)
            beforeLoops[convert.getType()] = known;
        }
        convert.replaceAllUsesWith(known);
        convert.erase();
      }
    }
  }

  LogicalResult lowerStore(DescStoreOp store) {
    Location loc = store.getLoc();
    RankedTensorType block = store.getValue().getType(), value = reshaped(block, dropLeadingOnes(block.getShape()));
    builder.setInsertionPoint(store);
    Value matrix = store.getValue();
    if (value != block) {
      auto reshape = matrix.getDefiningOp<ReshapeOp>();
      bool wasMatrix = reshape && reshape.getSrc().getType() == value;
      matrix = wasMatrix ? Value(reshape.getSrc()) : ReshapeOp::create(builder, loc, value, matrix);
    }
    SmallVector<int64_t> sizes(dropLeadingOnes(store.getDesc().getType().getShape()));
    if (llvm::count_if(sizes, [](int64_t size) { return !llvm::isPowerOf2_64(size); }) > 1)
      return refuse(store, store.getDesc().getType());
    // Such row counts mostly come from a dot with swapped operands, whose threads hold whole columns.
    unsigned axis = sizes.size() == 2 && !llvm::isPowerOf2_64(sizes[0]) ? 0 : sizes.size() - 1;
    Panels panels = store.getDesc().hasOneUse() && isa<BlockArgument>(store.getDesc()) ? Panels::Tail : Panels::Equal;
    cta::BufferType part = planPart(value, axis, sizes[axis], panels), tail;
    // If the block cannot be split by columns, and its rows are wider than a swizzle, splits it into bands of rows.
    if (sizes.size() == 2 && axis == 1 && llvm::isPowerOf2_64(sizes[1]) && part.getShape() == value.getShape())
      if (cta::BufferType band = planPart(value, 0, sizes[0], panels);
          band != part && sizes[1] * getBytesInMemory(value.getElementType()) > target::widestSwizzle) {
        axis = 0;
        part = band;
      }
    if (part.getShape()[axis] > sizes[axis]) {
      value = cta::withLayout(value, cta::LayoutAttr::get(kernel.getContext(), planLines(value, axis)));
      matrix = cta::ConvertLayoutOp::create(builder, loc, value, matrix);
      part = planPart(value, axis, sizes[axis], panels);
    }
    SmallVector<int64_t> shape(part.getShape());
    int64_t tailSize = sizes[axis] % shape[axis];
    shape[axis] = tailSize;
    if (tailSize != 0)
      tail = planBuffer(shape, value.getElementType());
    // Warp groups that own rows or columns need not wait for each other. Their boxes may be smaller than those of other
    // accesses to the descriptor, so no other access may use the tensor map.
    bool ownsMap = store.getDesc().hasOneUse() && !store.getDesc().getDefiningOp<OpenTensorMapOp>();
    int64_t groups = ownsMap ? planGroups(part, value) : 1;
    if (tail && planGroups(tail, value) != groups)
      groups = 1;
    auto partOf = [&](cta::BufferType whole) { return groups > 1 ? whole.getPart(groups) : whole; };
    if (tailSize != 0 && (!tail || !planBoxes(partOf(tail))))
      return refuse(store, store.getDesc().getType());
    if (failed(setTensorMap(store, store.getDesc(), partOf(part))))
      return failure();
    Value tailDesc = tail ? addTail(store.getDesc(), axis, tailSize, partOf(tail)) : Value();
    emitParts(store, matrix, axis, part, tail, tailDesc, groups);
    store.erase();
    eraseIfUnused(matrix);
    hasStores = true;
    return success();
  }

  /// Emits the writes of all parts. Full parts alternate in a ring of buffers; the remainder has a separate buffer.
  /// Rows are split as the columns of the transposed matrix.
  void emitParts(DescStoreOp store, Value matrix, unsigned axis, cta::BufferType part, cta::BufferType tail,
                 Value tailDesc, int64_t groups) {
    Location loc = store.getLoc();
    size_t rank = part.getShape().size(), dim = store.getOffsets().size() - rank + axis;
    int64_t size = store.getDesc().getType().getShape()[dim], partSize = part.getShape()[axis];
    int64_t count = size / partSize, slots = std::min(count, target::storeBuffers), writes = count + (tail ? 1 : 0);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    // If the writes go around the whole ring, other stores can share it, because the next slot is the same afterwards.
    Value own, &ring = tail || count % slots != 0 ? own : storeRings[{part.withSlots(slots), groups}];
    if (!ring)
      ring = cta::AllocOp::create(builder, loc, part.withSlots(slots), /*offset=*/IntegerAttr());
    Value last = tail ? cta::AllocOp::create(builder, loc, tail, /*offset=*/IntegerAttr()) : Value();
    builder.setInsertionPoint(store);
    bool cutsRows = rank == 2 && axis == 0;
    if (cutsRows)
      matrix = emitTrans(loc, matrix);
    PointerBases written = PointerBases::of(store.getDesc());
    std::optional<ColumnSlicer> slicer, tailSlicer;
    if (writes > 1) {
      Operation *user = store;
      slicer.emplace(ArrayRef<Value>(matrix), ArrayRef<Operation *>(user), written, partSize);
      if (tail)
        tailSlicer.emplace(ArrayRef<Value>(matrix), ArrayRef<Operation *>(user), written, size - count * partSize);
    }
    auto slicerOf = [&](int64_t index) -> ColumnSlicer & { return index == count ? *tailSlicer : *slicer; };
    if (writes > 1)
      slicerOf(0).load(builder, 0);
    for (int64_t index = 0; index < writes; ++index) {
      bool isTail = index == count;
      if (index + 1 < writes)
        slicerOf(index + 1).load(builder, (index + 1) * partSize);
      Value values = matrix;
      SmallVector<Value> offsets(store.getOffsets());
      if (writes > 1) {
        values = slicerOf(index).slice(builder, matrix, index * partSize);
        offsets[dim] = arith::AddIOp::create(builder, loc, offsets[dim], emitI32(builder, loc, index * partSize));
      }
      if (cutsRows)
        values = emitTrans(loc, values);
      // `age` is the number of writes since the same buffer was last written, in this program or the previous one.
      int64_t lastOfSlot = count - 1 - (count - 1 - index % slots) % slots, age = slots;
      if (isTail || index < slots)
        age = isTail ? writes : writes - lastOfSlot + index;
      cta::TmaStoreWaitOp::create(builder, loc, age - 1, /*written=*/false);
      Value buffer =
          isTail ? last : cta::SlotOp::create(builder, loc, part, ring, emitI32(builder, loc, index % slots));
      cta::LocalStoreOp::create(builder, loc, values, buffer);
      cta::ProxyFenceOp::create(builder, loc);
      cta::TmaStoreOp::create(builder, loc, buffer, isTail ? tailDesc : store.getDesc(), offsets, groups,
                              store.getReduceAttr());
    }
  }

  Value emitTrans(Location loc, Value matrix) {
    auto type = cast<RankedTensorType>(matrix.getType());
    auto layout = cta::LayoutAttr::get(kernel.getContext(), layout::permuteDims(cta::getLayout(type), {1, 0}));
    auto transposed = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType(), layout);
    return TransOp::create(builder, loc, transposed, matrix, ArrayRef<int32_t>{1, 0});
  }

  /// Returns the same elements in the same registers with another shape.
  static RankedTensorType reshaped(RankedTensorType type, ArrayRef<int64_t> shape) {
    auto layout = layout::reshape(cta::getLayout(type), {shape.begin(), shape.end()});
    return RankedTensorType::get(shape, type.getElementType(), cta::LayoutAttr::get(type.getContext(), layout));
  }

  LogicalResult refuse(Operation *access, DescType block) {
    return access->emitOpError() << "moves blocks of "
                                 << RankedTensorType::get(block.getShape(), block.getElementType())
                                 << "; TMA needs vectors or matrices with rows of at least 16 bytes";
  }

  /// Sets the tensor map's box. All buffers of a descriptor must have the same box, because it has one tensor map.
  LogicalResult setTensorMap(Operation *access, Value desc, cta::BufferType buffer) {
    std::optional<layout::TmaBoxes> boxes = buffer ? planBoxes(buffer) : std::nullopt;
    auto block = cast<DescType>(desc.getType());
    if (!boxes)
      return refuse(access, block);
    SmallVector<int64_t> box(block.getShape().size() - boxes->shape.size(), 1);
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
    // Writers of maps in memory follow the same plan; see tile.open_tensor_map.
    if (desc.getDefiningOp<OpenTensorMapOp>())
      return success();
    unsigned index = cast<BlockArgument>(desc).getArgNumber();
    TensorMapAttr map = kernel.getTensorMap(index);
    if (!map)
      return access->emitOpError() << "uses argument " << index << ", a descriptor without "
                                   << StringRef(tensorMapAttrName);
    TensorMapAttr updated = map.withBox(box, boxes->swizzleBytes);
    if (!map.getBox().empty() && map != updated)
      return access->emitOpError() << "needs box [" << ArrayRef<int64_t>(box) << "] and swizzle " << boxes->swizzleBytes
                                   << " but the descriptor has the tensor map " << map;
    if (auto load = dyn_cast<DescLoadOp>(access); load && readsHalfLines(load, *boxes))
      updated = updated.withL2Promotion(target::tunedOf(cta::getTarget(kernel)).promotedL2Bytes);
    kernel.setTensorMap(index, updated);
    return success();
  }

  /// Returns true if L2 should read both halves of data that consecutive steps use: blocks have the width of a half,
  /// and a loop advances them along the rows, presumably by that width. This saves 1.2 of 46.6 us in a GEMM of
  /// 128x8192x8192, and 0.8 of 31.4 us in one of 1024x1024x8192. Blocks whose rows take two boxes do not gain, because
  /// both boxes are requested together.
  static bool readsHalfLines(DescLoadOp load, const layout::TmaBoxes &boxes) {
    RankedTensorType type = load.getType();
    int64_t columns = type.getShape().back(), promotedBytes = target::tunedOf(cta::getTarget(load)).promotedL2Bytes;
    auto loop = load->getParentOfType<LoopLikeOpInterface>();
    return columns == boxes.shape.back() && 2 * columns * getBytesInMemory(type.getElementType()) == promotedBytes &&
           loop && !loop.isDefinedOutsideOfLoop(load.getOffsets().back());
  }

  /// Adds a descriptor of the same tensor for the last elements of its blocks along an axis of the matrix; its box is
  /// that of `buffer` with this number of elements.
  Value addTail(Value desc, unsigned axis, int64_t elements, cta::BufferType buffer) {
    layout::TmaBoxes boxes = *planBoxes(buffer);
    unsigned index = cast<BlockArgument>(desc).getArgNumber();
    auto type = cast<DescType>(desc.getType());
    SmallVector<int64_t> block(type.getShape()), box(block.size() - boxes.shape.size(), 1);
    llvm::append_range(box, boxes.shape);
    block[block.size() - 2 + axis] = elements;
    if (axis == 1)
      box.back() = elements;
    TensorMapAttr map = kernel.getTensorMap(index).withBox(box, boxes.swizzleBytes);
    DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr(tensorMapAttrName, map));
    LogicalResult inserted = kernel.insertArgument(
        index + 1, DescType::get(kernel.getContext(), block, type.getElementType()), attributes, desc.getLoc());
    assert(succeeded(inserted) && "a kernel's type is a function type");
    (void)inserted;
    return kernel.getArgument(index + 1);
  }

  LogicalResult lowerCreate(CreateTensorMapOp create) {
    Location loc = create.getLoc();
    Type element = create.getBase().getType().getPointee();
    cta::BufferType buffer = planBuffer(create.getBlock(), element);
    std::optional<layout::TmaBoxes> boxes =
        buffer ? layout::planTmaBoxes(buffer.getLayout().getLayout(), getBytesInMemory(element)) : std::nullopt;
    if (!boxes)
      return create.emitOpError() << "is for blocks of " << RankedTensorType::get(create.getBlock(), element)
                                  << "; TMA needs rows of at least 16 bytes";
    Value staging = emitStaging(loc);
    builder.setInsertionPoint(create);
    SmallVector<Value> strides{arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1))};
    if (create.getBlock().size() == 2)
      strides.insert(strides.begin(),
                     arith::ExtSIOp::create(builder, loc, builder.getI64Type(), create.getShape().back()));
    auto type = DescType::get(kernel.getContext(), create.getBlock(), element);
    cta::MakeTensorMapOp::create(builder, loc, type, create.getBase(), create.getShape(), strides, create.getPlace(),
                                 staging, /*needed=*/Value(), boxes->shape, boxes->swizzleBytes, /*single=*/false);
    create.erase();
    return success();
  }

  /// Allocates the shared memory in which a thread builds a tensor map.
  Value emitStaging(Location loc) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    return cta::AllocOp::create(builder, loc, planBuffer({cta::tensorMapBytes}, builder.getI8Type()),
                                /*offset=*/IntegerAttr());
  }

  /// Encodes the map in the kernel, where the program creates the descriptor.
  void makeTensorMap(MakeDescOp make, ArrayRef<int64_t> box, int64_t swizzle) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = make.getLoc();
    Value staging = emitStaging(loc);
    builder.setInsertionPoint(make);
    Value map =
        cta::MakeTensorMapOp::create(builder, loc, make.getType(), make.getBase(), make.getShape(), make.getStrides(),
                                     make.getPlace(), staging, make.getNeeded(), box, swizzle, /*single=*/false);
    make.replaceAllUsesWith(map);
    make.erase();
  }

  KernelOp kernel;
  OpBuilder builder;
  DenseMap<Value, Value> tails;                         // remainder descriptors, by the descriptor that is read
  DenseMap<std::pair<Type, int64_t>, Value> storeRings; // by type and number of warp groups
  bool hasStores = false;
};

struct CtaLowerDescriptors : tile::impl::CtaLowerDescriptorsBase<CtaLowerDescriptors> {
  void runOnKernel() override {
    if (failed(DescriptorLowering(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
