// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that move no element between threads: shape changes and register permutations. Each register of the result
// is the register of the operand that holds the same element, so no code is emitted.
#include "EmitLayout.h"
#include "Patterns.h"

#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

/// The layouts of operand and result, both as layouts of the operand's shape, in which the same element has the same
/// coordinates.
struct Renaming {
  LinearLayout src, dst;
};

Renaming renamingOf(Operation *op) {
  const LinearLayout &src = cta::getLayout(op->getOperand(0).getType()),
                     &dst = cta::getLayout(op->getResult(0).getType());
  auto change = dyn_cast<ShapeChange>(op);
  return {src, change ? cta::getSourceCoordinates(change, dst) : dst};
}

/// Lowers shape changes and layout conversions. The operand of a splat is a scalar.
struct RenamingLowering : ConversionPattern {
  RenamingLowering(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchInterfaceOpTypeTag(), ShapeChange::getInterfaceID(), /*benefit=*/1, context) {
  }
  RenamingLowering(const TypeConverter &converter, MLIRContext *context, StringRef name)
      : ConversionPattern(converter, name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op->getOperand(0).getType()))
      return failure();
    Renaming renaming = renamingOf(op);
    std::optional<std::vector<int32_t>> sources = registerSources(renaming.src, renaming.dst);
    if (!sources)
      return rewriter.notifyMatchFailure(op, "moves elements between threads");
    Registers registers;
    for (int32_t source : *sources)
      registers.push_back(operands.front()[source]);
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

static LogicalResult checkShapeChange(Operation *op, const target::GpuTarget &) {
  bool renames = isa<ShapeChange, cta::ConvertLayoutOp>(op) && isa<RankedTensorType>(op->getOperand(0).getType());
  if (!renames)
    return success();
  Renaming renaming = renamingOf(op);
  if (registerSources(renaming.src, renaming.dst))
    return success();
  auto convert = dyn_cast<cta::ConvertLayoutOp>(op);
  if (convert &&
      layout::movesByShuffles(renaming.src, renaming.dst, getBytesInMemory(getElementTypeOf(convert.getType()))))
    return success();
  return op->emitOpError() << "moves elements between threads: operand is " << op->getOperand(0).getType()
                           << ", result is " << op->getResult(0).getType() << "; run cta-lower-conversions first";
}

void registerShapeLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<RenamingLowering, SliceColumnsLowering>(lowerings.converter, lowerings.context);
  lowerings.patterns.add<RenamingLowering>(lowerings.converter, lowerings.context,
                                           cta::ConvertLayoutOp::getOperationName());
  lowerings.checkEach(checkShapeChange);
}

} // namespace tile::conversion
