// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads of shared memory at computed places along one axis.
//
//   buffer [A, B], axis 0, row-major:   address(r) = base + bytes * (B * (index(r) & (A - 1)) + column(r))
//
// Coordinates off the axis come from the layout of the indices. The mask keeps what an index out of range reads inside
// of the buffer.
#include "EmitLayout.h"
#include "Patterns.h"

#include "Layout/Factories.h"
#include "Layout/SharedLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// (register, thread) -> row-major place in a tensor of `shape` at which the axis is 0.
ThreadMap placesOffAxis(const layout::LinearLayout &layout, ArrayRef<int64_t> shape, unsigned axis) {
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

struct LocalGatherLowering : OpConversionPattern<cta::LocalGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::LocalGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    cta::BufferType buffer = op.getBuffer().getType();
    ArrayRef<int64_t> shape = buffer.getShape();
    unsigned axis = op.getAxis();
    int64_t stride = 1;
    for (int64_t size : shape.drop_front(axis + 1))
      stride *= size;
    OffsetEmitter offsets(rewriter, loc, placesOffAxis(cta::getLayout(op.getIndices().getType()), shape, axis));
    WordFormat format = wordsFor(buffer.getElementType(), 1);
    Type unit = rewriter.getIntegerType(format.bits), word = unit;
    Registers registers;
    for (auto [number, index] : llvm::enumerate(adaptor.getIndices())) {
      Value along = arith::AndIOp::create(rewriter, loc, index, emitI32(rewriter, loc, shape[axis] - 1));
      along = arith::MulIOp::create(rewriter, loc, along, emitI32(rewriter, loc, stride));
      Value place = arith::AddIOp::create(rewriter, loc, along, offsets.indexOfRegister(number));
      Value base = adaptor.getBuffer().front();
      Value address = LLVM::GEPOp::create(rewriter, loc, base.getType(), unit, base, ArrayRef<LLVM::GEPArg>{place});
      Value loaded = LLVM::LoadOp::create(rewriter, loc, word, address, format.bytes());
      registers.push_back(unpackWords(rewriter, loc, loaded, buffer.getElementType(), format).front());
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
  lowerings.patterns.add<LocalGatherLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::LocalGatherOp>(checkGather);
}

} // namespace tile::conversion
