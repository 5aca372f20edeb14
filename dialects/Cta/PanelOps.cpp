// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of operations on panels.
#include "Cta/PanelOps.h"

#include "Layout/Factories.h"
#include "Layout/SharedLayouts.h"
#include "Tile/TileShapes.h"

#define GET_OP_CLASSES
#include "Cta/PanelOps.cpp.inc"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

/// Fails unless `buffer` can hold panel `panel` of a buffer with `layout`.
static LogicalResult verifyPanel(Operation *op, BufferType buffer, const layout::LinearLayout &layout, int64_t panel) {
  if (buffer.getSlots() != 1)
    return op->emitOpError() << "buffer has " << buffer.getSlots() << " slots; choose one with cta.slot";
  if (std::optional<std::string> problem = layout::verifyShared(layout))
    return op->emitOpError() << "layout is not a buffer layout: " << *problem;
  int64_t elements = buffer.getLayout().getLayout().numElements(), all = layout.numElements();
  if (elements > all || panel < 0 || panel >= all / elements)
    return op->emitOpError() << "panel index is " << panel << ", but the tensor has " << all / elements << " panels of "
                             << elements << " elements";
  return success();
}

static LogicalResult verifyPanel(Operation *op, RankedTensorType tensor, BufferType buffer, LayoutAttr layout,
                                 int64_t panel) {
  if (tensor.getShape() != ArrayRef<int64_t>(layout.getLayout().outShape()) ||
      tensor.getElementType() != buffer.getElementType())
    return op->emitOpError() << "tensor is " << tensor << " but the panel has elements of " << buffer
                             << " in the layout " << layout;
  if (!getLayoutAttr(tensor))
    return op->emitOpError() << "tensor has no layout";
  return verifyPanel(op, buffer, layout.getLayout(), panel);
}

LogicalResult PanelStoreOp::verify() {
  return verifyPanel(*this, getValue().getType(), getBuffer().getType(), getLayout(), int32_t(getPanel()));
}

/// Fails unless `others`, which provides the elements of other panels, has the type of the result.
static LogicalResult verifyOthers(Operation *op, Value others, RankedTensorType result) {
  if (others && others.getType() != result)
    return op->emitOpError() << "others are " << others.getType() << " but the result is " << result;
  return success();
}

LogicalResult PanelLoadOp::verify() {
  RankedTensorType result = getResult().getType();
  if (failed(verifyOthers(*this, getOthers(), result)))
    return failure();
  return verifyPanel(*this, result, getBuffer().getType(), getLayout(), int32_t(getPanel()));
}

/// Fails unless the indices select elements along the axis and the result has the corresponding type.
static LogicalResult verifyGather(PanelGatherOp op) {
  RankedTensorType indices = op.getIndices().getType(), result = op.getResult().getType();
  ArrayRef<int64_t> shape = op.getShape();
  int64_t axis = int32_t(op.getAxis());
  if (axis < 0 || axis >= int64_t(shape.size()))
    return op.emitOpError() << "axis is " << axis << " but must be from 0 to " << int64_t(shape.size()) - 1;
  SmallVector<int64_t> expected(shape);
  if (indices.getRank() == int64_t(shape.size()))
    expected[axis] = indices.getDimSize(axis);
  if (indices.getShape() != ArrayRef<int64_t>(expected))
    return op.emitOpError() << "indices have shape [" << indices.getShape() << "] but the tensor has [" << shape
                            << "]; only axis " << axis << " may differ";
  Type expectedResult = indices.clone(op.getBuffer().getType().getElementType());
  if (result != expectedResult)
    return op.emitOpError() << "result is " << result << " but must be " << expectedResult;
  return success();
}

LogicalResult PanelGatherOp::verify() {
  BufferType buffer = getBuffer().getType();
  RankedTensorType result = getResult().getType();
  if (failed(verifyOthers(*this, getOthers(), result)) || failed(verifyGather(*this)))
    return failure();
  std::vector<int64_t> shape = getShape().vec();
  layout::LinearLayout whole = layout::unswizzledShared(shape, layout::rowMajorOrder(shape.size()));
  return verifyPanel(*this, buffer, whole, int32_t(getPanel()));
}
