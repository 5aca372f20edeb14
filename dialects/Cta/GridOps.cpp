// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of partial accumulators.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

/// Verifies that a partial accumulator can be stored as 32-bit registers.
LogicalResult tile::cta::verifyPartial(Operation *op, RankedTensorType value, std::optional<uint32_t> columns) {
  if (!getLayoutAttr(value))
    return op->emitOpError() << "tensor has no layout";
  if (!value.getElementType().isF32() && !value.getElementType().isInteger(32))
    return op->emitOpError() << "moves " << value.getElementType() << " but partial accumulators are f32 or i32";
  if (columns && (value.getRank() != 2 || int32_t(*columns) < 1 || *columns > value.getDimSize(1)))
    return op->emitOpError() << "moves " << int32_t(*columns) << " columns of "
                             << RankedTensorType::get(value.getShape(), value.getElementType());
  return success();
}

LogicalResult CombineOp::verify() {
  if (!cast<ProgramsOp>((*this)->getParentOp()).getWork().splitsSteps())
    return emitOpError() << "must be in programs whose steps are split over CTAs";
  return verifyPartial(*this, cast<RankedTensorType>(getValue().getType()), getColumns());
}

LogicalResult PartialStoreOp::verify() {
  return verifyPartial(*this, cast<RankedTensorType>(getValue().getType()), getColumns());
}

LogicalResult PartialAddOp::verify() {
  return verifyPartial(*this, cast<RankedTensorType>(getValue().getType()), getColumns());
}
