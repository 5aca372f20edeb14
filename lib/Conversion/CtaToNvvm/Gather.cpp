// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads of shared memory at computed indices along one axis.
//
//   buffer [A, B], axis 0, row-major:   address(r) = base + bytes * (B * (index(r) & (A - 1)) + column(r))
//
// The coordinates along the other axes come from the layout of the indices. The mask keeps reads with an out-of-range
// index inside the buffer.
#include "EmitLayout.h"
#include "Patterns.h"

#include "Cta/PanelOps.h"
#include "Layout/Factories.h"
#include "Layout/SharedLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Maps (register, thread) to the row-major index in a tensor of `shape`, with coordinate 0 along the axis.
ThreadMap offsetsOffAxis(const layout::LinearLayout &layout, ArrayRef<int64_t> shape, unsigned axis) {
  ThreadMap map;
  auto place = [&](const std::vector<int32_t> &basis) {
    uint64_t value = 0;
    for (auto [dim, size] : llvm::enumerate(shape))
      value = value * size + (dim == axis ? 0 : basis[dim]);
    return value;
  };
  for (const std::vector<int32_t> &basis : layout.bases(layout::registerDim))
    map.registers.push_back(place(basis));
  for (std::string_view dim : {layout::laneDim, layout::warpDim})
    for (const std::vector<int32_t> &basis : layout.bases(dim))
      map.threads.push_back(place(basis));
  return map;
}

/// Emits row-major offsets of the elements that indices select along one axis of a tensor.
class GatherOffsets {
public:
  GatherOffsets(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, unsigned axis, Value indices)
      : builder(builder), loc(loc), size(shape[axis]),
        offsets(builder, loc, offsetsOffAxis(cta::getLayout(indices.getType()), shape, axis)) {
    for (int64_t inner : shape.drop_front(axis + 1))
      stride *= inner;
  }

  /// Returns the row-major offset of the element that `index` selects. `index` is the value of the thread's register
  /// `number` of the index tensor.
  Value emit(size_t number, Value index) {
    Value along = arith::AndIOp::create(builder, loc, index, emitI32(builder, loc, size - 1));
    along = arith::MulIOp::create(builder, loc, along, emitI32(builder, loc, stride));
    return arith::AddIOp::create(builder, loc, along, offsets.indexOfRegister(number));
  }

private:
  OpBuilder &builder;
  Location loc;
  int64_t size, stride = 1;
  OffsetEmitter offsets;
};

/// Loads the element at offset `place` of a buffer.
Value emitElement(OpBuilder &builder, Location loc, Value base, Value place, Type element) {
  WordFormat format = wordsFor(element, 1);
  Type unit = builder.getIntegerType(format.bits);
  Value address = LLVM::GEPOp::create(builder, loc, base.getType(), unit, base, ArrayRef<LLVM::GEPArg>{place});
  Value loaded = LLVM::LoadOp::create(builder, loc, unit, address, format.bytes());
  return unpackWords(builder, loc, loaded, element, format).front();
}

struct LocalGatherLowering : OpConversionPattern<cta::LocalGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::LocalGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    cta::BufferType buffer = op.getBuffer().getType();
    GatherOffsets offsets(rewriter, loc, buffer.getShape(), op.getAxis(), op.getIndices());
    Registers registers;
    for (auto [number, index] : llvm::enumerate(adaptor.getIndices()))
      registers.push_back(emitElement(rewriter, loc, adaptor.getBuffer().front(), offsets.emit(number, index),
                                      buffer.getElementType()));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Reads the elements that are in one panel. The high bits of an element's offset are the index of its panel. For an
/// element of a different panel, the element at the same offset in this panel is read and discarded.
struct PanelGatherLowering : OpConversionPattern<cta::PanelGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PanelGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    cta::BufferType buffer = op.getBuffer().getType();
    int64_t elements = buffer.getLayout().getLayout().numElements();
    GatherOffsets offsets(rewriter, loc, op.getShape(), op.getAxis(), op.getIndices());
    Registers registers;
    for (auto [number, index] : llvm::enumerate(adaptor.getIndices())) {
      Value place = offsets.emit(number, index);
      Value inPanel = arith::AndIOp::create(rewriter, loc, place, emitI32(rewriter, loc, elements - 1));
      Value element = emitElement(rewriter, loc, adaptor.getBuffer().front(), inPanel, buffer.getElementType());
      if (op.getOthers()) {
        Value panel = arith::ShRUIOp::create(rewriter, loc, place, emitI32(rewriter, loc, llvm::Log2_64(elements)));
        Value isOfPanel = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, panel,
                                                emitI32(rewriter, loc, op.getPanel()));
        element = LLVM::SelectOp::create(rewriter, loc, isOfPanel, element, adaptor.getOthers()[number]);
      }
      registers.push_back(element);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

LogicalResult checkRowMajor(Operation *op, cta::BufferType buffer) {
  std::vector<int64_t> shape = buffer.getShape().vec();
  if (buffer.getLayout().getLayout() == layout::unswizzledShared(shape, layout::rowMajorOrder(shape.size())))
    return success();
  return op->emitOpError() << "accesses " << buffer << ", whose layout is not row-major";
}

static LogicalResult checkGather(cta::LocalGatherOp op, const target::GpuTarget &) {
  cta::BufferType buffer = op.getBuffer().getType();
  return failure(failed(checkWholeTile(op, buffer)) || failed(checkRowMajor(op, buffer)));
}

void registerGatherLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<LocalGatherLowering, PanelGatherLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::LocalGatherOp>(checkGather);
}

} // namespace tile::conversion
