// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification and folding of the operations that create tensors.
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

LogicalResult ArangeOp::verify() {
  // The attributes are i32, but their accessors return unsigned values.
  int64_t count = int64_t(int32_t(getEnd())) - int64_t(int32_t(getStart()));
  RankedTensorType type = getResult().getType();
  if (type.getRank() != 1)
    return emitOpError() << "result has rank " << type.getRank() << "; a range has rank 1";
  if (count <= 0)
    return emitOpError() << "range " << int32_t(getStart()) << " to " << int32_t(getEnd()) << " has " << count
                         << " elements; there must be at least one";
  if (type.getDimSize(0) != count)
    return emitOpError() << "range " << int32_t(getStart()) << " to " << int32_t(getEnd()) << " has " << count
                         << " elements but the result type has " << type.getDimSize(0);
  return success();
}

LogicalResult SplatOp::verify() {
  Type element = getResult().getType().getElementType();
  if (getScalar().getType() == element)
    return success();
  return emitOpError() << "scalar is " << getScalar().getType() << " but the result's elements are " << element;
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getScalar();
  if (!value || !isa<IntegerAttr, FloatAttr>(value))
    return {};
  return SplatElementsAttr::get(getResult().getType(), value);
}
