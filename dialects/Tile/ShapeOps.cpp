// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape operations: verification and source dimensions.
#include "Tile/TileDialect.h"

#include "mlir/IR/Builders.h"

#include "Tile/ShapeChange.cpp.inc"

using namespace mlir;
using namespace tile;

static LogicalResult verifySameElements(Operation *op, RankedTensorType src, RankedTensorType result) {
  if (src.getElementType() == result.getElementType())
    return success();
  return op->emitOpError() << "operand has elements of type " << src.getElementType() << " but the result of type "
                           << result.getElementType();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  if (src.getNumElements() != result.getNumElements())
    return emitOpError() << "operand has " << src.getNumElements() << " elements but the result has "
                         << result.getNumElements();
  return verifySameElements(*this, src, result);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  if (src.getRank() != result.getRank())
    return emitOpError() << "operand has rank " << src.getRank() << " but the result has rank " << result.getRank();
  for (auto [axis, from, to] : llvm::enumerate(src.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError() << "dimension " << axis << " has size " << from << "; it must be 1 or the result's " << to;
  return verifySameElements(*this, src, result);
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis > src.getRank())
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << src.getRank();
  SmallVector<int64_t> expected(src.getShape());
  expected.insert(expected.begin() + axis, 1);
  if (ArrayRef<int64_t>(expected) != result.getShape())
    return emitOpError() << "result has shape [" << result.getShape() << "] but axis " << axis << " gives [" << expected
                         << "]";
  return verifySameElements(*this, src, result);
}

LogicalResult TransOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  ArrayRef<int32_t> order = getOrder();
  SmallVector<int32_t> sorted(order);
  llvm::sort(sorted);
  if (int64_t(order.size()) != src.getRank() || !llvm::equal(sorted, llvm::seq<int32_t>(0, order.size())))
    return emitOpError() << "order [" << order << "] is not a permutation of the " << src.getRank() << " dimensions";
  if (result.getRank() != src.getRank())
    return emitOpError() << "operand has rank " << src.getRank() << " but the result has rank " << result.getRank();
  for (auto [axis, from] : llvm::enumerate(order))
    if (result.getDimSize(axis) != src.getDimSize(from))
      return emitOpError() << "result dimension " << axis << " has size " << result.getDimSize(axis)
                           << " but operand dimension " << from << " has size " << src.getDimSize(from);
  return verifySameElements(*this, src, result);
}

// Source dimensions of the results.

std::optional<SourceDims> SplatOp::getSourceDims() {
  return SourceDims(getResult().getType().getRank());
}

std::optional<SourceDims> ReshapeOp::getSourceDims() {
  return std::nullopt;
}

std::optional<SourceDims> BroadcastOp::getSourceDims() {
  SourceDims dims;
  for (auto [dim, from, to] : llvm::enumerate(getSrc().getType().getShape(), getResult().getType().getShape()))
    dims.push_back(from == to ? std::optional<unsigned>(dim) : std::nullopt);
  return dims;
}

std::optional<SourceDims> ExpandDimsOp::getSourceDims() {
  SourceDims dims;
  llvm::append_range(dims, llvm::seq<unsigned>(0, getSrc().getType().getRank()));
  dims.insert(dims.begin() + getAxis(), std::nullopt);
  return dims;
}

std::optional<SourceDims> TransOp::getSourceDims() {
  return SourceDims(getOrder().begin(), getOrder().end());
}

std::optional<unsigned> ShapeChange::getResultDim(unsigned dim) {
  std::optional<SourceDims> dims = getSourceDims();
  if (!dims || !llvm::is_contained(*dims, std::optional(dim)))
    return std::nullopt;
  return llvm::find(*dims, std::optional(dim)) - dims->begin();
}

Value tile::emitAlongDim(OpBuilder &builder, Location loc, Value line, unsigned dim, ArrayRef<int64_t> shape) {
  Type element = getElementTypeOf(line.getType());
  SmallVector<int64_t> sizes{shape[dim]};
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (axis == dim)
      continue;
    sizes.insert(sizes.begin() + axis, 1);
    line = ExpandDimsOp::create(builder, loc, RankedTensorType::get(sizes, element), line, axis);
  }
  if (ArrayRef<int64_t>(sizes) == shape)
    return line;
  return BroadcastOp::create(builder, loc, RankedTensorType::get(shape, element), line);
}
