// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the tile dialect, and queries on its types.
#include "Tile/TileDialect.h"
#include "Tile/ListParameter.h"
#include "Tile/TileShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "Tile/TileDialect.cpp.inc"
#include "Tile/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Tile/TileAttrs.cpp.inc"

using namespace mlir;

namespace tile {

namespace {
/// Allows inlining of every tile operation, because none of them depends on the enclosing function.
struct TileInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Tile/TileOps.cpp.inc"
      >();
  addInterfaces<TileInliner>();
}

/// Materializes folded values as arith constants.
Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Tile/TileAttrs.cpp.inc"
      >();
}

Type getElementTypeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType();
  return type;
}

Type withElementType(Type like, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  return element;
}

Type getPointeeValueType(Type pointer) {
  return withElementType(pointer, cast<PtrType>(getElementTypeOf(pointer)).getPointee());
}

Type getMaskType(Type like) {
  return withElementType(like, IntegerType::get(like.getContext(), 1));
}

SmallVector<int64_t> getPaddedShape(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(shape, [](int64_t size) { return int64_t(llvm::PowerOf2Ceil(size)); });
}

unsigned getBytesInMemory(Type element) {
  if (isa<PtrType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

bool writesGlobalMemory(Operation *op) {
  if (auto code = dyn_cast<InlineAsmOp>(op))
    return !code.getIsPure();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getIsVolatile();
  return isa<StoreOp, DescStoreOp, AtomicRmwOp, AtomicCasOp, BarrierOp, GridDependencyOp, WaitFlagOp, CreateTensorMapOp,
             AcquireTensorMapOp>(op);
}

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<AddPtrOp>(op);
}

} // namespace tile

#define GET_OP_CLASSES
#include "Tile/TileOps.cpp.inc"
