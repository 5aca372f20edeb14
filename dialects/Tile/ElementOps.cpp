// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax and verification of elementwise operations.
#include "Tile/RegionOps.h"
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWithRegion(parser, result);
}

void MapOp::print(OpAsmPrinter &printer) {
  printWithRegion(printer, *this);
}

LogicalResult MapOp::verify() {
  if (getSrcs().empty() || getResults().empty())
    return emitOpError() << "has " << getSrcs().size() << " operands and " << getResults().size()
                         << " results; it needs at least one of each";
  for (Type type : llvm::concat<const Type>(llvm::to_vector(getSrcs().getTypes()), llvm::to_vector(getResultTypes())))
    if (Type element = getElementTypeOf(type); isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      return emitOpError() << "computes with " << element << "; convert to a wider type";
  return success();
}

LogicalResult MapOp::verifyRegions() {
  auto elementsOf = [](TypeRange types) { return llvm::map_to_vector(types, getElementTypeOf); };
  Block &block = getBody().front();
  SmallVector<Type> arguments = elementsOf(getSrcs().getTypes()), results = elementsOf(getResultTypes());
  if (!llvm::equal(block.getArgumentTypes(), arguments))
    return emitOpError() << "region takes the types " << block.getArgumentTypes() << " but must take " << arguments;
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || !llvm::equal(yield.getOperandTypes(), results))
    return emitOpError() << "region must end with tile.yield of the results' elements, " << results;
  WalkResult found = getBody().walk([&](Operation *op) -> WalkResult {
    auto isTensor = [](Type type) { return isa<ShapedType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor))
      return emitOpError() << "region must compute with scalars but has '" << op->getName() << "' with tensors";
    if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op))
      return emitOpError() << "region has an effect on memory: '" << op->getName() << "'";
    return WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}

unsigned RoundedOp::countArguments(RoundedKind kind) {
  switch (kind) {
  case RoundedKind::rcp:
  case RoundedKind::sqrt:
  case RoundedKind::cast:
    return 1;
  case RoundedKind::fma:
    return 3;
  default:
    return 2;
  }
}

LogicalResult RoundedOp::verify() {
  auto isFloat = [](Type type) { return type.isF32() || type.isF64(); };
  auto isInteger = [](Type type) { return type.isInteger(32) || type.isInteger(64); };
  if (unsigned count = countArguments(getKind()); count != getArgs().size())
    return emitOpError() << "has " << getArgs().size() << " arguments but '" << stringifyRoundedKind(getKind())
                         << "' takes " << count;
  Type from = getElementTypeOf(getArgs().front().getType()), to = getElementTypeOf(getType());
  if (getKind() != RoundedKind::cast) {
    if (isFloat(to) && llvm::all_of(getArgs().getTypes(), [&](Type type) { return type == getType(); }))
      return success();
    return emitOpError() << "computes " << getType() << " of " << getArgs().getTypes()
                         << "; all must be f32, or all f64";
  }
  auto isFloat8 = [](Type type) { return isa<Float8E5M2Type, Float8E4M3FNType>(type); };
  if (isa<FloatType>(from) && !isFloat8(from) && isFloat8(to)) {
    if (getRounding() == Rounding::rn || getRounding() == Rounding::rz)
      return success();
    return emitOpError() << "rounds to " << to << " with '" << stringifyRounding(getRounding())
                         << "'; expected 'rn' or 'rz'";
  }
  bool isKnown = (from.isF64() && to.isF32()) || (isFloat(from) && isInteger(to)) || (isInteger(from) && isFloat(to));
  if (!isKnown)
    return emitOpError() << "converts " << from << " to " << to
                         << "; expected f64 to f32, f32 or f64 from or to integers of 32 or 64 bits, or a wider "
                            "float to one of 8 bits";
  return success();
}

LogicalResult HintOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getSrc().getType());
  size_t rank = tensor ? std::max<int64_t>(tensor.getRank(), 1) : 1;
  auto check = [&](StringRef name, std::optional<ArrayRef<int64_t>> values) -> LogicalResult {
    if (values && values->size() != rank)
      return emitOpError() << "has " << values->size() << " values in '" << name << "' but needs " << rank;
    for (int64_t number : values.value_or(ArrayRef<int64_t>()))
      if (number < 1)
        return emitOpError() << "has value " << number << " in '" << name << "'; expected at least 1";
    return success();
  };
  return success(succeeded(check("divisibility", getDivisibility())) &&
                 succeeded(check("contiguity", getContiguity())) && succeeded(check("constancy", getConstancy())));
}
