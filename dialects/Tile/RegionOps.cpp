// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the common syntax and verification; see RegionOps.h.
#include "Tile/RegionOps.h"

#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

ParseResult tile::parseWithRegion(OpAsmParser &parser, OperationState &result) {
  Region *region = result.addRegion();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes, resultTypes;
  SMLoc operandsPlace = parser.getCurrentLocation();
  if (parser.parseOperandList(operands))
    return failure();
  SMLoc attributesPlace = parser.getCurrentLocation();
  auto emitError = [&] { return parser.emitError(attributesPlace) << "'" << result.name.getStringRef() << "' op "; };
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(result.name.verifyInherentAttrs(result.attributes, emitError)) || parser.parseColon() ||
      parser.parseTypeList(operandTypes) || parser.parseArrow() || parser.parseTypeList(resultTypes) ||
      parser.parseRegion(*region))
    return failure();
  if (region->empty())
    region->emplaceBlock();
  result.addTypes(resultTypes);
  return parser.resolveOperands(operands, operandTypes, operandsPlace, result.operands);
}

void tile::printWithRegion(OpAsmPrinter &printer, Operation *op, ArrayRef<StringRef> hidden) {
  printer << ' ' << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs(), hidden);
  printer << " : " << op->getOperandTypes() << " -> " << op->getResultTypes() << ' ';
  printer.printRegion(op->getRegion(0));
}

LogicalResult tile::verifyCombination(Operation *op, ValueRange srcs, Block &block) {
  SmallVector<Type> elements;
  for (Value src : srcs)
    elements.push_back(getElementTypeOf(src.getType()));
  SmallVector<Type> expected(elements);
  llvm::append_range(expected, elements);
  if (block.getNumArguments() != expected.size())
    return op->emitOpError() << "combine region takes " << block.getNumArguments() << " arguments; expected "
                             << expected.size() << ", the left and the right elements";
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return op->emitOpError() << "combine region takes the types " << block.getArgumentTypes() << " but must take "
                             << expected;
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || !llvm::equal(yield.getOperandTypes(), elements))
    return op->emitOpError() << "combine region must end with tile.yield of " << elements.size()
                             << " values of the operands' element types";
  return success();
}
