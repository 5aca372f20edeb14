// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of the dialect's discardable attributes.
#include "Tile/AttrNames.h"

#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

namespace {

struct Known {
  StringRef name;
  const char *expected;
  bool (*isValid)(Attribute);
};

/// Returns true if the attribute is a signless integer of at most 64 bits in the given range.
bool isFrom(Attribute attribute, int64_t lowest, int64_t highest = INT64_MAX) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger() && number.getType().getIntOrFloatBitWidth() <= 64 &&
         number.getInt() >= lowest && number.getInt() <= highest;
}
bool isPositive(Attribute attribute) {
  return isFrom(attribute, 1);
}
bool isUnit(Attribute attribute) {
  return isa<UnitAttr>(attribute);
}
bool isText(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && !text.empty();
}

constexpr Known ofArguments[] = {
    {argNameAttrName, "a non-empty string", isText},
    {divisibilityAttrName, "a positive integer", isPositive},
    {unsignedAttrName, "a unit attribute", isUnit},
    {tensorMapAttrName, "a #tile.tensor_map", [](Attribute value) { return isa<TensorMapAttr>(value); }},
    {gridSizeAttrName, "0, 1 or 2", [](Attribute value) { return isFrom(value, 0, 2); }},
    {scratchAttrName, "a positive number of bytes", isPositive},
    {sharesTailsAttrName, "a unit attribute", isUnit},
};

constexpr Known ofOperations[] = {
    {unsignedAttrName, "a unit attribute", isUnit},
    {numStagesAttrName, "a positive integer", isPositive},
    {sharedBytesAttrName, "a number of bytes", [](Attribute value) { return isFrom(value, 0); }},
    {programsPerClusterAttrName, "three i32 integers",
     [](Attribute value) {
       auto integers = dyn_cast<DenseI32ArrayAttr>(value);
       return integers && integers.size() == 3;
     }},
    {pdlAttrName, "a unit attribute", isUnit},
    {ptxasLevelAttrName, "an integer from 0 to 3", [](Attribute value) { return isFrom(value, 0, 3); }},
};

LogicalResult verify(Operation *op, ArrayRef<Known> all, NamedAttribute attribute, StringRef what) {
  const Known *known = llvm::find_if(all, [&](const Known &entry) { return entry.name == attribute.getName(); });
  if (known == all.end())
    return op->emitError() << "'" << attribute.getName().getValue() << "' is not an attribute of " << what;
  if (!known->isValid(attribute.getValue()))
    return op->emitError() << "attribute '" << known->name << "' of " << what << " is " << attribute.getValue()
                           << "; expected " << known->expected;
  return success();
}

} // namespace

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verify(op, ofOperations, attribute, "an operation");
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned index,
                                                    NamedAttribute attribute) {
  if (failed(verify(op, ofArguments, attribute, "argument " + std::to_string(index))))
    return failure();
  auto map = dyn_cast<TensorMapAttr>(attribute.getValue());
  auto kernel = dyn_cast<KernelOp>(op);
  if (!map || !kernel)
    return success(); // a lowered kernel takes a pointer instead
  auto desc = dyn_cast<DescType>(kernel.getFunctionType().getInput(index));
  if (!desc)
    return op->emitError() << "argument " << index << " has a '" << tensorMapAttrName << "' but is not a descriptor";
  size_t rank = desc.getShape().size();
  for (size_t dims : {map.getShape().size(), map.getBox().size()})
    if (dims != 0 && dims != rank)
      return op->emitError() << "the tensor map of argument " << index << " has " << dims
                             << " dimensions but the descriptor's blocks have " << rank;
  return success();
}
