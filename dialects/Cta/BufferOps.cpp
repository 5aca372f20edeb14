// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification and folding of buffer operations.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

LogicalResult cta::verifyAccesses(Operation *op) {
  bool isView = llvm::any_of(op->getResultTypes(), llvm::IsaPred<BufferType>);
  if (isView || llvm::none_of(op->getOperandTypes(), llvm::IsaPred<BufferType>))
    return success();
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  for (OpOperand &operand : op->getOpOperands()) {
    auto concerns = [&](const MemoryEffects::EffectInstance &effect) { return effect.getValue() == operand.get(); };
    if (isa<BufferType>(operand.get().getType()) && llvm::none_of(effects, concerns))
      return op->emitOpError() << "takes a buffer as operand " << operand.getOperandNumber()
                               << " but declares no memory effect on it";
  }
  return success();
}

LogicalResult SlotOp::verify() {
  if (getResult().getType() != getBuffer().getType().withSlots(1))
    return emitOpError() << "result is " << getResult().getType() << " but a slot of the buffer is "
                         << getBuffer().getType().withSlots(1);
  return success();
}

OpFoldResult NextSlotOp::fold(FoldAdaptor adaptor) {
  auto index = dyn_cast_if_present<IntegerAttr>(adaptor.getIndex());
  if (!index)
    return {};
  int64_t next = index.getInt() + 1;
  return IntegerAttr::get(getType(), next == getSlots() ? 0 : next);
}

static LogicalResult verifyTile(Operation *op, RankedTensorType tensor, BufferType buffer) {
  if (buffer.getSlots() != 1)
    return op->emitOpError() << "buffer has " << buffer.getSlots() << " slots; choose one with cta.slot";
  // Elements beyond a padded buffer read as undefined values.
  bool fits = tensor.getShape() == ArrayRef<int64_t>(buffer.getLayout().getLayout().outShape());
  if (!fits || tensor.getElementType() != buffer.getElementType())
    return op->emitOpError() << "tensor is " << RankedTensorType::get(tensor.getShape(), tensor.getElementType())
                             << " but the buffer holds "
                             << RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  if (!getLayoutAttr(tensor))
    return op->emitOpError() << "tensor has no layout";
  return success();
}

LogicalResult LocalStoreOp::verify() {
  return verifyTile(*this, getValue().getType(), getBuffer().getType());
}

LogicalResult LocalLoadOp::verify() {
  RankedTensorType part = getResult().getType();
  BufferType buffer = getBuffer().getType();
  if (!getStart())
    return verifyTile(*this, part, buffer);
  ArrayRef<int32_t> start = *getStart();
  if (int64_t(start.size()) != part.getRank() || part.getRank() != int64_t(buffer.getShape().size()))
    return emitOpError() << "start has " << start.size() << " coordinates, the tensor has rank " << part.getRank()
                         << " and the buffer has rank " << buffer.getShape().size() << "; all three must agree";
  for (auto [axis, first] : llvm::enumerate(start)) {
    int64_t size = part.getDimSize(axis), whole = buffer.getShape()[axis];
    if (first < 0 || first % size != 0 || first + size > whole)
      return emitOpError() << "start is " << first << " along dimension " << axis << " but must be a multiple of "
                           << size << " to select " << size << " of " << whole << " elements";
  }
  return verifyTile(*this, part.clone(buffer.getShape()), buffer);
}

LogicalResult LocalCountOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (buffer.getSlots() != 1)
    return emitOpError() << "buffer has " << buffer.getSlots() << " slots; choose one with cta.slot";
  if (buffer.getShape().size() != 1 || !buffer.getElementType().isInteger(32))
    return emitOpError() << "counts in " << buffer << ", which is not a vector of i32";
  return success();
}

LogicalResult LocalGatherOp::verify() {
  BufferType buffer = getBuffer().getType();
  RankedTensorType indices = getIndices().getType(), result = getResult().getType();
  ArrayRef<int64_t> shape = buffer.getShape();
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= int64_t(shape.size()))
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << int64_t(shape.size()) - 1;
  if (buffer.getSlots() != 1)
    return emitOpError() << "buffer has " << buffer.getSlots() << " slots; choose one with cta.slot";
  SmallVector<int64_t> expected(shape);
  if (indices.getRank() == int64_t(shape.size()))
    expected[axis] = indices.getDimSize(axis);
  if (indices.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError() << "indices have shape [" << indices.getShape() << "] but the buffer has [" << shape
                         << "]; only axis " << axis << " may differ";
  if (result != indices.clone(buffer.getElementType()))
    return emitOpError() << "result is " << result << " but must be " << indices.clone(buffer.getElementType());
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  auto values = cast<RankedTensorType>(getPointeeValueType(getPtr().getType()));
  if (failed(verifyTile(*this, values, getBuffer().getType())))
    return failure();
  if (getMask() && getMask().getType() != getMaskType(values))
    return emitOpError() << "mask is " << getMask().getType() << " but the pointers need " << getMaskType(values);
  int64_t bytes = getVector() * getBytesInMemory(values.getElementType());
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return emitOpError() << "moves " << bytes << " bytes with one instruction; cp.async moves 4, 8 or 16";
  return success();
}

LogicalResult TransBufferOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (buffer.getShape().size() != 2)
    return emitOpError() << "buffer has rank " << buffer.getShape().size() << " but must be a matrix";
  if (getResult().getType() != buffer.transposed())
    return emitOpError() << "result is " << getResult().getType() << " but the transposed buffer is "
                         << buffer.transposed();
  return success();
}
