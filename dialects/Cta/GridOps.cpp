// Verification of partial sums.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

/// Partial sums are moved as 32-bit registers.
LogicalResult tile::cta::verifyPartial(Operation *op, RankedTensorType value) {
  if (!getLayoutAttr(value))
    return op->emitOpError() << "tensor has no layout";
  if (!value.getElementType().isF32() && !value.getElementType().isInteger(32))
    return op->emitOpError() << "moves " << value.getElementType() << " but partial sums are f32 or i32";
  return success();
}

LogicalResult PartialStoreOp::verify() {
  return verifyPartial(*this, cast<RankedTensorType>(getValue().getType()));
}

LogicalResult PartialAddOp::verify() {
  return verifyPartial(*this, cast<RankedTensorType>(getValue().getType()));
}
