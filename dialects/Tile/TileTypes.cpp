// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the tile dialect: parsing, printing and verification.
#include "Tile/TileDialect.h"
#include "Tile/TileShapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

#define GET_TYPEDEF_CLASSES
#include "Tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Tile/TileTypes.cpp.inc"
      >();
}

bool tile::isBlockShape(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 1 || size > maxBlockElements / elements)
      return false;
    elements *= size;
  }
  return !shape.empty();
}

static bool isMemoryElement(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, Float32Type, Float64Type>(type) ||
         (type.isSignlessInteger() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth()));
}

bool tile::isBlockElement(Type type) {
  return isMemoryElement(type) || isa<PtrType>(type);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee) {
  if (isBlockElement(pointee))
    return success();
  return emitError() << "pointee is " << pointee << " but must be an integer or float of 1 to 64 bits, or a pointer";
}

LogicalResult DescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                               bool padsNan) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "block has rank " << shape.size() << "; a descriptor has rank 1 to 5";
  for (int64_t size : shape)
    if (size <= 0)
      return emitError() << "block size is " << size << " but must be at least 1";
  if (!isBlockShape(shape))
    return emitError() << "block of [" << shape << "] has more than " << maxBlockElements << " elements";
  if (!isMemoryElement(element))
    return emitError() << "element is " << element << " but must be an integer or float of 1 to 64 bits";
  if (padsNan && !isa<FloatType>(element))
    return emitError() << "padding is NaN, which " << element << " does not have";
  return success();
}

Type DescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element))
    return {};
  bool padsNan = succeeded(parser.parseOptionalComma());
  if ((padsNan && parser.parseKeyword("nan")) || parser.parseGreater())
    return {};
  return parser.getChecked<DescType>(parser.getContext(), shape, element, padsNan);
}

void DescType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << (getPadsNan() ? ", nan>" : ">");
}
