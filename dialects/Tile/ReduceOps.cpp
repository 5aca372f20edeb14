// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax and verification of reductions, scans and gathers.
#include "Tile/RegionOps.h"
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

/// Builds the terminator of a region that yields nothing.
void YieldOp::build(OpBuilder &, OperationState &) {}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWithRegion(parser, result);
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printWithRegion(printer, *this);
}

LogicalResult ReduceOp::verify() {
  if (getSrcs().empty())
    return emitOpError() << "has no operand";
  if (getSrcs().size() != getResults().size())
    return emitOpError() << "has " << getSrcs().size() << " operands but " << getResults().size() << " results";
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= first.getRank())
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << first.getRank() - 1;
  SmallVector<int64_t> reduced(first.getShape());
  reduced.erase(reduced.begin() + axis);
  for (auto [src, result] : llvm::zip(getSrcs(), getResults())) {
    auto type = cast<RankedTensorType>(src.getType());
    if (type.getShape() != first.getShape())
      return emitOpError() << "operands have shapes [" << first.getShape() << "] and [" << type.getShape()
                           << "]; they must agree";
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    ArrayRef<int64_t> shape = tensor ? tensor.getShape() : ArrayRef<int64_t>();
    if (shape != ArrayRef<int64_t>(reduced) || (!tensor && !reduced.empty()))
      return emitOpError() << "result is " << result.getType() << " but reducing axis " << axis << " gives shape ["
                           << reduced << "]";
    if (getElementTypeOf(result.getType()) != type.getElementType())
      return emitOpError() << "result is " << result.getType() << " but the operand's elements are "
                           << type.getElementType();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombination(*this, getSrcs(), getCombine().front());
}

// The keyword `reverse` precedes the operands.
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    result.addAttribute(getReverseAttrName(result.name), parser.getBuilder().getUnitAttr());
  return parseWithRegion(parser, result);
}

void ScanOp::print(OpAsmPrinter &printer) {
  if (getReverse())
    printer << " reverse";
  printWithRegion(printer, *this, {getReverseAttrName()});
}

LogicalResult ScanOp::verify() {
  if (getSrcs().empty())
    return emitOpError() << "has no operand";
  if (!llvm::equal(getSrcs().getTypes(), getResultTypes()))
    return emitOpError() << "has operands " << getSrcs().getTypes() << " but results " << getResultTypes();
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= first.getRank())
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << first.getRank() - 1;
  for (Type type : getSrcs().getTypes())
    if (cast<RankedTensorType>(type).getShape() != first.getShape())
      return emitOpError() << "operands have shapes [" << first.getShape() << "] and ["
                           << cast<RankedTensorType>(type).getShape() << "]; they must agree";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombination(*this, getSrcs(), getCombine().front());
}

LogicalResult HistogramOp::verify() {
  if (getSrc().getType().getRank() != 1 || getResult().getType().getRank() != 1)
    return emitOpError() << "takes a vector and returns a vector, not " << getSrc().getType() << " and "
                         << getResult().getType();
  return success();
}

LogicalResult ButterflyOp::verify() {
  RankedTensorType type = getSrc().getType();
  int64_t axis = int32_t(getAxis()), distance = int32_t(getDistance());
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << type.getRank() - 1;
  int64_t size = type.getDimSize(axis);
  if (!llvm::isPowerOf2_64(size) || distance < 1 || distance >= size)
    return emitOpError() << "distance is " << distance << " along an axis of " << size
                         << "; the axis must be a power of two above the distance, which must be at least 1";
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType src = getSrc().getType(), indices = getIndices().getType();
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= src.getRank())
    return emitOpError() << "axis is " << axis << " but must be from 0 to " << src.getRank() - 1;
  if (indices.getRank() != src.getRank())
    return emitOpError() << "operand has rank " << src.getRank() << " but the indices have rank " << indices.getRank();
  for (auto [dim, from, to] : llvm::enumerate(src.getShape(), indices.getShape()))
    if (from != to && int64_t(dim) != axis)
      return emitOpError() << "dimension " << dim << " has size " << from << ", but in the indices it has size " << to
                           << "; only axis " << axis << " may differ";
  if (getResult().getType() != indices.clone(src.getElementType()))
    return emitOpError() << "result is " << getResult().getType() << " but must be "
                         << indices.clone(src.getElementType());
  return success();
}
