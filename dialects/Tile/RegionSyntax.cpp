// One form for all of them; RegionSyntax.h.
#include "Tile/RegionSyntax.h"

using namespace mlir;

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
