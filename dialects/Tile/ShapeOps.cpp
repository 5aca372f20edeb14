// Verification of the operations that change shapes.
#include "Tile/TileDialect.h"

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
