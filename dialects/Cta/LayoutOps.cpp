// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax, folding and verification of layout conversions and of partial reductions and scans.
#include "Cta/CtaDialect.h"
#include "Tile/RegionOps.h"

#include "Layout/ShapeTransforms.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  if (src.getShape() != result.getShape() || src.getElementType() != result.getElementType())
    return emitOpError() << "operand is " << src << " but the result is " << result << "; only the layout may change";
  if (!getLayoutAttr(src) || !getLayoutAttr(result))
    return emitOpError() << "operand and result must have a layout";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getResult().getType())
    return getSrc();
  if (auto previous = getSrc().getDefiningOp<ConvertLayoutOp>()) {
    if (previous.getSrc().getType() == getResult().getType())
      return previous.getSrc();
    getSrcMutable().assign(previous.getSrc());
    return getResult();
  }
  return {};
}

ParseResult PartialReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWithRegion(parser, result);
}

void PartialReduceOp::print(OpAsmPrinter &printer) {
  printWithRegion(printer, *this);
}

LogicalResult PartialReduceOp::verify() {
  if (getSrcs().empty() || getSrcs().size() != getResults().size())
    return emitOpError() << "has " << getSrcs().size() << " operands and " << getResults().size()
                         << " results; the numbers must be equal, and at least 1";
  for (auto [src, result] : llvm::zip(getSrcs(), getResults())) {
    auto from = cast<RankedTensorType>(src.getType()), to = cast<RankedTensorType>(result.getType());
    if (from.getRank() != to.getRank() || int64_t(getAxis()) >= from.getRank())
      return emitOpError() << "operand has rank " << from.getRank() << ", result " << to.getRank() << " and axis is "
                           << getAxis() << "; ranks must agree and contain the axis";
    SmallVector<int64_t> shape(from.getShape());
    shape[getAxis()] = to.getDimSize(getAxis());
    if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
      return emitOpError() << "operand is " << from << " but the result is " << to << "; only axis " << getAxis()
                           << " may differ";
    if (from.getShape() != cast<RankedTensorType>(getSrcs().front().getType()).getShape())
      return emitOpError() << "operands are " << getSrcs().front().getType() << " and " << from
                           << "; their shapes must agree";
  }
  return verifyCombination(*this, getSrcs(), getCombine().front());
}

ParseResult PartialScanOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWithRegion(parser, result);
}

void PartialScanOp::print(OpAsmPrinter &printer) {
  printWithRegion(printer, *this);
}

/// Verifies a partial scan or its carry; `scans` and `totals` have the same length.
static LogicalResult verifyScanPart(Operation *op, ValueRange scans, ValueRange totals, uint32_t axis) {
  if (scans.empty())
    return op->emitOpError() << "has no operand";
  for (auto [scan, total] : llvm::zip(scans, totals)) {
    auto from = cast<RankedTensorType>(scan.getType()), to = cast<RankedTensorType>(total.getType());
    if (int64_t(axis) >= from.getRank())
      return op->emitOpError() << "axis is " << axis << " but a scan has rank " << from.getRank();
    SmallVector<int64_t> shape(from.getShape());
    if (to.getRank() == from.getRank())
      shape[axis] = to.getDimSize(axis);
    if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
      return op->emitOpError() << "scan is " << from << " but its totals are " << to << "; only axis " << axis
                               << " may differ";
    if (from.getShape() != cast<RankedTensorType>(scans.front().getType()).getShape())
      return op->emitOpError() << "scans are " << scans.front().getType() << " and " << from
                               << "; their shapes must agree";
  }
  return success();
}

LogicalResult PartialScanOp::verify() {
  if (getResults().size() != 2 * getSrcs().size() || !llvm::equal(getSrcs().getTypes(), getScans().getTypes()))
    return emitOpError() << "has operands " << getSrcs().getTypes() << " but results " << getResultTypes()
                         << "; the first results must have the operands' types";
  if (failed(verifyScanPart(*this, getScans(), getTotals(), getAxis())))
    return failure();
  return verifyCombination(*this, getSrcs(), getCombine().front());
}

ParseResult ScanCarryOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWithRegion(parser, result);
}

void ScanCarryOp::print(OpAsmPrinter &printer) {
  printWithRegion(printer, *this);
}

LogicalResult ScanCarryOp::verify() {
  if (getSrcs().size() != 2 * getResults().size() || !llvm::equal(getScans().getTypes(), getResultTypes()))
    return emitOpError() << "has operands " << getSrcs().getTypes() << " but results " << getResultTypes()
                         << "; the first operands must have the results' types";
  if (failed(verifyScanPart(*this, getScans(), getTotals(), getAxis())))
    return failure();
  return verifyCombination(*this, getScans(), getCombine().front());
}

LogicalResult SliceColumnsOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getResult().getType();
  if (src.getRank() != 2 || result.getRank() != 2 || src.getDimSize(0) != result.getDimSize(0) ||
      src.getElementType() != result.getElementType())
    return emitOpError() << "operand is " << src << " but the result is " << result
                         << "; the result must be a matrix with the same number of rows";
  int64_t columns = result.getDimSize(1), first = int32_t(getFirst());
  if (first < 0 || first % columns != 0 || first + columns > src.getDimSize(1))
    return emitOpError() << "takes " << columns << " of " << src.getDimSize(1) << " columns, starting at column "
                         << first << "; the first column must be a multiple of " << columns;
  if (!getLayoutAttr(src) || !getLayoutAttr(result))
    return emitOpError() << "operand and result must have a layout";
  std::optional<layout::SlicedLayout> sliced = layout::sliceDim(getLayout(src), 1, columns);
  if (!sliced || sliced->layout != getLayout(result))
    return emitOpError() << "result must have the layout of a slice whose elements stay in their threads";
  return success();
}
