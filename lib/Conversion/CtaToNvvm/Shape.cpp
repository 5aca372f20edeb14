// Operations that move no element between threads: shape changes and register permutations. The result's registers are
// the operand's, renamed: register r of the result is the register of the operand that holds the same element.
#include "EmitLayout.h"
#include "Patterns.h"

#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

std::vector<int64_t> shapeOf(RankedTensorType type) {
  return {type.getShape().begin(), type.getShape().end()};
}

/// Both layouts as layouts of one shape, in which the same element has the same coordinate.
struct Renaming {
  LinearLayout src, dst;
};

Renaming renamingOf(Operation *op) {
  auto srcType = cast<RankedTensorType>(op->getOperand(0).getType());
  auto dstType = cast<RankedTensorType>(op->getResult(0).getType());
  const LinearLayout &src = cta::getLayout(srcType), &dst = cta::getLayout(dstType);
  if (isa<ReshapeOp, ExpandDimsOp>(op))
    return {layout::reshape(src, shapeOf(dstType)), dst};
  if (auto trans = dyn_cast<TransOp>(op))
    return {layout::permuteDims(src, {trans.getOrder().begin(), trans.getOrder().end()}), dst};
  if (isa<BroadcastOp>(op)) {
    LinearLayout clamped = dst;
    for (unsigned axis = 0; axis < clamped.rank(); ++axis)
      if (srcType.getDimSize(axis) == 1)
        clamped = layout::insertUnitDim(layout::projectDim(clamped, axis), axis);
    return {src, clamped};
  }
  return {src, dst};
}

template <typename OpType> struct RenamingLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Renaming renaming = renamingOf(op);
    std::optional<std::vector<int32_t>> sources = registerSources(renaming.src, renaming.dst);
    if (!sources)
      return rewriter.notifyMatchFailure(op, "moves elements between threads");
    Registers registers;
    for (int32_t source : *sources)
      registers.push_back(adaptor.getSrc()[source]);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct SliceColumnsLowering : OpConversionPattern<cta::SliceColumnsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::SliceColumnsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t columns = op.getType().getDimSize(1);
    layout::SlicedLayout sliced = *layout::sliceDim(cta::getLayout(op.getSrc().getType()), 1, columns);
    Registers registers;
    for (int32_t index = 0; index < sliced.layout.numRegisters(); ++index)
      registers.push_back(adaptor.getSrc()[sliced.sourceRegister(index, op.getFirst() / columns)]);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

LogicalResult checkShapeChange(Operation *op) {
  Renaming renaming = renamingOf(op);
  if (registerSources(renaming.src, renaming.dst))
    return success();
  auto convert = dyn_cast<cta::ConvertLayoutOp>(op);
  if (convert &&
      layout::movesByShuffles(renaming.src, renaming.dst, getBytesInMemory(getElementTypeOf(convert.getType()))))
    return success();
  return op->emitOpError() << "moves elements between threads: operand is " << op->getOperand(0).getType()
                           << ", result is " << op->getResult(0).getType()
                           << "; cta-lower-conversions should have sent them through shared memory";
}

void populateShapePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<RenamingLowering<ReshapeOp>, RenamingLowering<ExpandDimsOp>, RenamingLowering<TransOp>,
               RenamingLowering<BroadcastOp>, RenamingLowering<cta::ConvertLayoutOp>, SliceColumnsLowering>(
      converter, patterns.getContext());
}

} // namespace tile::conversion
