// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: atomic updates through descriptors, and gather and scatter of rows.
//
//   desc.atomic_add([i, j], x)       tile.desc_store … reduce add
//   desc.gather(rows, j)             x[k, l] = tensor[rows[k], j + l]: plain pointers and masks, on all targets
//   desc.scatter(x, rows, j)         the inverse

#include "Frontend/Emit/EmitMemory.h"

#include <cmath>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the atomic operation of a method such as atomic_add for elements of this type; nullopt if it does not
/// support the type.
std::optional<AtomicKind> kindFor(StringRef method, DType type) {
  bool isShort = type.is(Scalar::Float16) || type.is(Scalar::BFloat16);
  bool isInteger = type.isInt() && type.bits() >= 32;
  if (method == "add")
    return isInteger || isShort || type.is(Scalar::Float32) ? std::optional(AtomicKind::add) : std::nullopt;
  if (method == "min" || method == "max") {
    if (isShort)
      return method == "min" ? AtomicKind::fmin : AtomicKind::fmax;
    if (!isInteger)
      return std::nullopt;
    if (type.isUnsigned())
      return method == "min" ? AtomicKind::umin : AtomicKind::umax;
    return method == "min" ? AtomicKind::min : AtomicKind::max;
  }
  return isInteger ? symbolizeAtomicKind(method) : std::nullopt;
}

SymValue emitUpdate(BuiltinCall &call, StringRef method) {
  if (!descriptorOperand(call))
    return {};
  std::optional<AtomicKind> kind = kindFor(method, call[0].type);
  if (!kind)
    return call.sema.error(Diag::atomic_type, call.rangeOf(0), {("atomic_" + method).str(), toString(call[0].type)});
  return storeBlock(call, kind);
}

/// Rows of a descriptor's tensor, starting at some column.
struct Rows {
  SymValue pointer, mask;
  DType type;
};

/// Checks the constraints of TMA gathers and scatters, and builds pointers.
std::optional<Rows> rowsAt(BuiltinCall &call, size_t rowsIndex) {
  Emitter &sema = call.sema;
  if (!descriptorOperand(call))
    return std::nullopt;
  const SymValue &desc = call[0];
  auto type = llvm::cast<DescType>(desc.value.getType());
  SymValue rows = call.block(rowsIndex), column = call.tensor(rowsIndex + 1);
  if (rows.isError() || column.isError())
    return std::nullopt;
  constexpr int64_t leastRows = 8, leastBits = 256; // Triton's limits, for TMA
  auto fail = [&](Diag id, size_t index, const std::vector<std::string> &arguments) {
    sema.error(id, call.rangeOf(index), arguments);
    return std::nullopt;
  };
  if (desc.elements.size() < 3)
    return fail(Diag::not_supported, 0, {"the rows of a tensor whose map lies in memory"});
  if (type.getShape().size() != 2 || type.getShape()[0] != 1 || type.getShape()[1] * desc.type.bits() < leastBits)
    return fail(Diag::rows_block, 0, {std::string(call.info.name), std::to_string(leastBits / desc.type.bits())});
  if (rows.shape().size() != 1 || rows.shape()[0] < leastRows || !rows.type.isInt() || rows.type.isBool())
    return fail(Diag::rows_places, rowsIndex, {describe(rows), std::to_string(leastRows)});
  if (!column.isScalar() || !column.type.isInt() || column.type.isBool())
    return fail(Diag::integer_scalar, rowsIndex + 1, {"y_offset", describe(column)});
  auto binary = [&](BinaryOp op, const SymValue &left, const SymValue &right) {
    return sema.binary(op, left, right, call.range);
  };
  auto isInside = [&](const SymValue &place, const SymValue &size) {
    SymValue zero = SymValue::makeConstant(Int128(0));
    return sema.logical(BoolOperator::And, sema.compare(CompareOp::GtE, place, zero, call.range),
                        sema.compare(CompareOp::Lt, place, size, call.range), call.range);
  };
  const std::vector<SymValue> &sizes = desc.elements[0].elements, &strides = desc.elements[1].elements;
  rows = sema.expandDims(sema.cast(rows, Scalar::Int32, call.range), 1, call.range);
  SymValue columns = sema.arange(0, type.getShape()[1], call.range);
  columns =
      sema.expandDims(binary(BinaryOp::Add, columns, sema.cast(column, Scalar::Int32, call.range)), 0, call.range);
  Rows result{desc.elements[2], {}, desc.type};
  result.mask = sema.logical(BoolOperator::And, isInside(rows, sizes[0]), isInside(columns, sizes[1]), call.range);
  SymValue starts = binary(BinaryOp::Mult, sema.cast(rows, Scalar::Int64, call.range), strides[0]);
  result.pointer = binary(BinaryOp::Add, binary(BinaryOp::Add, result.pointer, starts), columns);
  return result.pointer.isError() || result.mask.isError() ? std::nullopt : std::optional(result);
}

} // namespace

SymValue emitDescriptorAdd(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "add");
}
SymValue emitDescriptorMin(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "min");
}
SymValue emitDescriptorMax(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "max");
}
SymValue emitDescriptorAnd(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "and");
}
SymValue emitDescriptorOr(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "or");
}
SymValue emitDescriptorXor(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, "xor");
}

SymValue emitDescriptorGather(Emitter &sema, BuiltinCall &call) {
  std::optional<Rows> rows = rowsAt(call, 1);
  if (!rows)
    return {};
  Type type = sema.mlirType(rows->type, rows->pointer.shape());
  const bool padsNan = llvm::cast<DescType>(call[0].value.getType()).getPadsNan();
  SymValue other =
      sema.makeSplat(padsNan ? Value(std::nan("")) : Value(Int128(0)), rows->type, rows->pointer.shape(), call.range);
  mlir::Value loaded =
      LoadOp::create(sema.builder, sema.location(call.range), type, rows->pointer.value, rows->mask.value, other.value,
                     CacheModifier::none, EvictionPolicy::normal, /*isVolatile=*/false);
  return SymValue::makeTensor(loaded, rows->type);
}

SymValue emitDescriptorScatter(Emitter &sema, BuiltinCall &call) {
  std::optional<Rows> rows = rowsAt(call, 2);
  if (!rows)
    return {};
  SymValue value = sema.cast(call.tensor(1), rows->type, call.rangeOf(1));
  if (value.isError())
    return {};
  if (value.shape() != rows->pointer.shape())
    return sema.error(
        Diag::rows_value, call.rangeOf(1),
        {describe(value), std::to_string(rows->pointer.shape()[0]), std::to_string(rows->pointer.shape()[1])});
  StoreOp::create(sema.builder, sema.location(call.range), rows->pointer.value, value.value, rows->mask.value,
                  CacheModifier::none, EvictionPolicy::normal);
  return SymValue::makeConstant(NoneValue{});
}

} // namespace tile::frontend
