// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: creation of tensors, casts, changes of shape.

#include "Frontend/Emit/Builtins.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tile::frontend {

SymValue emitArange(Emitter &sema, BuiltinCall &call) {
  std::optional<int64_t> start = call.integer(0), end = call.integer(1);
  return start && end ? sema.arange(*start, *end, call.range) : SymValue();
}

/// Converts a float to an integer as compiled code does: rounds towards zero and saturates. For 8-bit types, saturates
/// to 16 bits and keeps the low 8 bits.
static Int128 saturate(double value, DType type) {
  const unsigned bits = std::max(type.bits(), 16u);
  const Int128 largest = (Int128(1) << (type.isUnsigned() ? bits : bits - 1)) - 1;
  const Int128 smallest = type.isUnsigned() ? Int128(0) : -largest - 1;
  return std::clamp(static_cast<Int128>(std::trunc(value)), smallest, largest);
}

static SymValue splat(Emitter &sema, const SymValue &value, DType type, ArrayRef<int64_t> shape, BuiltinCall &call) {
  if (type.isPointer)
    return sema.error(Diag::not_supported, call.range, {"a block of constant pointers"});
  if (value.isConstant() && isNumber(value.constant)) {
    const double *real = std::get_if<double>(&value.constant);
    bool fits = !real || type.isFloat() || type.isBool() || (std::abs(*real) < 9.2e18 && *real == *real);
    if (!fits)
      return sema.error(Diag::fill_value, call.range, {describe(value), toString(type)});
    if (real && type.isInt() && !type.isBool())
      return sema.makeSplat(saturate(*real, type), type, shape, call.range);
    return sema.makeSplat(value.constant, type, shape, call.range);
  }
  SymValue scalar = sema.cast(sema.toTensor(value, call.range), type, call.range);
  if (scalar.isError())
    return {};
  if (!scalar.isScalar())
    return sema.error(Diag::scalar_needed, call.range, {"value", std::string(call.info.name), describe(scalar)});
  return sema.broadcastTo(scalar, shape, call.range);
}

SymValue emitFull(Emitter &sema, BuiltinCall &call) {
  auto shape = call.shape(0);
  std::optional<DType> type = call.dtype(2);
  return shape && type ? splat(sema, call[1], *type, *shape, call) : SymValue();
}

SymValue emitZeros(Emitter &sema, BuiltinCall &call) {
  auto shape = call.shape(0);
  std::optional<DType> type = call.dtype(1);
  return shape && type ? splat(sema, SymValue::makeConstant(Int128(0)), *type, *shape, call) : SymValue();
}

SymValue emitZerosLike(Emitter &sema, BuiltinCall &call) {
  SymValue like = call.tensor(0);
  if (like.isError())
    return {};
  return splat(sema, SymValue::makeConstant(Int128(0)), like.type, like.shape(), call);
}

SymValue emitToTensor(Emitter &, BuiltinCall &call) {
  return call.tensor(0);
}

SymValue emitCast(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  // If the type argument is the type of a block, its element type is meant.
  std::optional<DType> type = call[1].kind == SymValue::Kind::BlockType ? call[1].type : call.dtype(1);
  std::optional<bool> isBitcast = call.flag(3);
  std::optional<std::string> rounding = call.text(2);
  if (value.isError() || !type || !isBitcast || !rounding)
    return {};
  if (!rounding->empty() && *rounding != "rtne" && *rounding != "rtz")
    return sema.error(Diag::unknown_option, call.rangeOf(2), {"fp_downcast_rounding", *rounding, "'rtne' or 'rtz'"});
  if (*isBitcast)
    return sema.bitcast(value, *type, call.range);
  return sema.cast(value, *type, call.range, *rounding == "rtz");
}

SymValue emitExpandDims(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  if (value.isError())
    return {};
  std::vector<SymValue> axes = call[1].isTuple() ? call[1].elements : std::vector<SymValue>{call[1]};
  auto rank = static_cast<Int128>(value.shape().size() + axes.size());
  SmallVector<int64_t> sorted;
  for (const SymValue &axis : axes) {
    std::optional<Int128> number = axis.isConstant() ? asInteger(axis.constant) : std::nullopt;
    if (!number)
      return axis.isError() ? SymValue() : call.constantNeeded(1);
    if (*number < -rank || *number >= rank)
      return sema.error(Diag::axis_range, call.rangeOf(1),
                        {str(axis.constant), std::to_string(static_cast<int64_t>(rank))});
    sorted.push_back(static_cast<int64_t>(*number < 0 ? *number + rank : *number));
  }
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return sema.error(Diag::duplicate_axis, call.rangeOf(1));
  for (int64_t axis : sorted)
    value = sema.expandDims(value, axis, call.range);
  return value;
}

SymValue emitBroadcastTo(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  auto shape = call.shape(1);
  return value.isError() || !shape ? SymValue() : sema.broadcastTo(value, *shape, call.range);
}

SymValue emitBroadcast(Emitter &sema, BuiltinCall &call) {
  SymValue left = call.tensor(0), right = call.tensor(1);
  return sema.broadcastTogether(left, right, call.range) ? SymValue::makeTuple({left, right}) : SymValue();
}

SymValue emitReshape(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  auto shape = call.shape(1);
  return value.isError() || !shape ? SymValue() : sema.reshape(value, *shape, call.range);
}

SymValue emitRavel(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  if (value.isError())
    return {};
  return sema.reshape(value, {ShapedType::getNumElements(value.shape())}, call.range);
}

/// Returns the dimensions that are passed to trans or permute, either as several arguments or as one tuple.
static std::optional<SmallVector<int32_t>> permutation(BuiltinCall &call, size_t rank) {
  SymValue dims = call[1];
  if (dims.elements.size() == 1 && dims.elements[0].isTuple())
    dims = SymValue(dims.elements[0]);
  SmallVector<int32_t> order;
  std::set<int32_t> seen;
  for (const SymValue &dim : dims.elements) {
    std::optional<Int128> number = dim.isConstant() ? asInteger(dim.constant) : std::nullopt;
    auto size = static_cast<Int128>(rank);
    if (!number) {
      call.constantNeeded(1);
      return std::nullopt;
    }
    Int128 axis = *number < 0 ? *number + size : *number;
    if (axis >= 0 && axis < size && seen.insert(static_cast<int32_t>(axis)).second)
      order.push_back(static_cast<int32_t>(axis));
  }
  if (order.size() == rank && dims.elements.size() == rank)
    return order;
  call.sema.error(Diag::permutation, call.range, {std::to_string(dims.elements.size()), std::to_string(rank)});
  return std::nullopt;
}

SymValue emitPermute(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.block(0);
  if (value.isError())
    return {};
  auto order = permutation(call, value.shape().size());
  return order ? sema.permute(value, *order, call.range) : SymValue();
}

SymValue emitTrans(Emitter &sema, BuiltinCall &call) {
  if (!call[1].elements.empty())
    return emitPermute(sema, call);
  SymValue value = call.block(0);
  if (value.isError())
    return {};
  size_t rank = value.shape().size();
  if (rank < 2)
    return sema.error(Diag::transpose_rank, call.range, {describe(value)});
  SmallVector<int32_t> order = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(rank)));
  std::swap(order[rank - 1], order[rank - 2]);
  return sema.permute(value, order, call.range);
}

} // namespace tile::frontend
