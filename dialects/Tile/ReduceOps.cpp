// Verification of reductions.
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

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
  Block &block = getCombine().front();
  SmallVector<Type> elements;
  for (Value src : getSrcs())
    elements.push_back(getElementTypeOf(src.getType()));
  SmallVector<Type> expected(elements);
  llvm::append_range(expected, elements);
  if (block.getNumArguments() != expected.size())
    return emitOpError() << "combine region takes " << block.getNumArguments() << " arguments; expected "
                         << expected.size() << ", the left and the right elements";
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError() << "combine region takes the types " << block.getArgumentTypes() << " but must take "
                         << expected;
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || !llvm::equal(yield.getOperandTypes(), elements))
    return emitOpError() << "combine region must end with tile.yield of " << elements.size()
                         << " values of the operands' element types";
  return success();
}
