// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits shape operations: broadcasting with Triton's rules, reshape, expand_dims, permutation, arange.

#include "Frontend/Emit/Emitter.h"

using namespace mlir;

namespace tile::frontend {

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, size] : llvm::enumerate(shape))
    text += (index == 0 ? "" : ", ") + std::to_string(size);
  return text + "]";
}

SymValue Emitter::expandDims(const SymValue &value, int64_t axis, SourceRange range) {
  SmallVector<int64_t> shape(value.shape());
  shape.insert(shape.begin() + axis, 1);
  Type type = mlirType(value.type, shape);
  Location loc = location(range);
  if (value.isScalar())
    return SymValue::makeTensor(SplatOp::create(builder, loc, type, value.value), value.type);
  mlir::Value expanded = ExpandDimsOp::create(builder, loc, type, value.value, static_cast<int32_t>(axis));
  return SymValue::makeTensor(expanded, value.type);
}

/// Broadcasts to 'shape' like tl.broadcast_to: scalars splat, dimensions of size 1 repeat.
SymValue Emitter::broadcastTo(const SymValue &value, ArrayRef<int64_t> shape, SourceRange range) {
  if (value.isError() || value.shape() == shape)
    return value;
  Location loc = location(range);
  Type type = mlirType(value.type, shape);
  if (value.isScalar())
    return SymValue::makeTensor(SplatOp::create(builder, loc, type, value.value), value.type);
  bool fits = value.shape().size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = value.shape()[i] == shape[i] || value.shape()[i] == 1;
  if (!fits)
    return error(Diag::cannot_broadcast, range, {shapeText(value.shape()), shapeText(shape)});
  return SymValue::makeTensor(BroadcastOp::create(builder, loc, type, value.value), value.type);
}

bool Emitter::broadcastTogether(SymValue &left, SymValue &right, SourceRange range) {
  if (left.isError() || right.isError())
    return false;
  if (left.shape() == right.shape())
    return true;
  if (left.isScalar() || right.isScalar()) {
    SymValue &scalar = left.isScalar() ? left : right;
    scalar = broadcastTo(scalar, left.isScalar() ? right.shape() : left.shape(), range);
    return true;
  }
  SmallVector<int64_t> originalLeft(left.shape()), originalRight(right.shape());
  // The shorter shape gets leading dimensions of size 1.
  while (left.shape().size() < right.shape().size())
    left = expandDims(left, 0, range);
  while (right.shape().size() < left.shape().size())
    right = expandDims(right, 0, range);
  SmallVector<int64_t> common;
  for (auto [a, b] : llvm::zip(left.shape(), right.shape())) {
    if (a != b && a != 1 && b != 1) {
      error(Diag::shape_mismatch, range, {shapeText(originalLeft), shapeText(originalRight)});
      return false;
    }
    common.push_back(std::max(a, b));
  }
  left = broadcastTo(left, common, range);
  right = broadcastTo(right, common, range);
  return !left.isError() && !right.isError();
}

SymValue Emitter::reshape(const SymValue &value, ArrayRef<int64_t> shape, SourceRange range) {
  if (value.isError() || value.shape() == shape)
    return value;
  int64_t from = ShapedType::getNumElements(value.shape()), to = ShapedType::getNumElements(shape);
  if (from != to)
    return error(Diag::reshape_elements, range,
                 {shapeText(value.shape()), std::to_string(from), shapeText(shape), std::to_string(to)});
  Location loc = location(range);
  if (value.isScalar())
    return SymValue::makeTensor(SplatOp::create(builder, loc, mlirType(value.type, shape), value.value), value.type);
  if (shape.empty())
    return toScalar(value, range);
  mlir::Value result = ReshapeOp::create(builder, loc, mlirType(value.type, shape), value.value);
  return SymValue::makeTensor(result, value.type);
}

/// Extracts the only element of a block by a reduction, which combines nothing.
SymValue Emitter::toScalar(const SymValue &block, SourceRange range) {
  Location loc = location(range);
  Type element = mlirType(block.type);
  SymValue flat = reshape(block, {1}, range);
  if (block.type.isPointer) {
    SymValue address = toScalar(bitcast(flat, Scalar::Int64, range), range);
    return bitcast(address, block.type, range);
  }
  auto op = ReduceOp::create(builder, loc, element, flat.value, /*axis=*/0u);
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block *region = builder.createBlock(&op.getCombine(), {}, {element, element}, {loc, loc});
  YieldOp::create(builder, loc, region->getArgument(0));
  return SymValue::makeTensor(op.getResult(0), block.type);
}

SymValue Emitter::permute(const SymValue &value, ArrayRef<int32_t> order, SourceRange range) {
  SmallVector<int64_t> shape;
  for (int32_t dimension : order)
    shape.push_back(value.shape()[dimension]);
  mlir::Value result = TransOp::create(builder, location(range), mlirType(value.type, shape), value.value,
                                       builder.getDenseI32ArrayAttr(order));
  return SymValue::makeTensor(result, value.type);
}

bool Emitter::isBlockSize(int64_t size) const {
  return llvm::isPowerOf2_64(size) || openSizes.contains(size);
}

SymValue Emitter::arange(int64_t start, int64_t end, SourceRange range) {
  int64_t size = end - start;
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  if (start < -largest - 1 || end > largest || size <= 0 || !isBlockSize(size) || size > maxBlockElements) {
    std::string hint = size > 0 && size <= maxBlockElements
                           ? "; the next power of two is " + std::to_string(llvm::PowerOf2Ceil(size))
                           : "";
    return error(Diag::arange_size, range, {std::to_string(start), std::to_string(end), std::to_string(size), hint});
  }
  mlir::Value result = ArangeOp::create(builder, location(range), mlirType(Scalar::Int32, {size}),
                                        static_cast<int32_t>(start), static_cast<int32_t>(end));
  return SymValue::makeTensor(result, Scalar::Int32);
}

} // namespace tile::frontend
