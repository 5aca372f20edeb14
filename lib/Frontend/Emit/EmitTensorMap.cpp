// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: raw tensor maps, Triton's predecessor of tensor descriptors. A kernel gets a pointer to the 128 bytes of a
// map. Either the host or an earlier program has written the map, or the kernel itself writes it:
//
//   tl.extra.cuda.experimental_device_tensormap_create2d(map, base, [BLOCK_M, BLOCK_N], [M, N], tl.float16)
//   tl.extra.cuda.experimental_tensormap_fenceproxy_acquire(map)
//   x = tl._experimental_descriptor_load(map, [i, j], [BLOCK_M, BLOCK_N], tl.float16)
//
// Rows of more than 128 bytes are copied in chunks of 128; the map's box is one chunk wide and as tall as the block.

#include "Frontend/Emit/EmitMemory.h"
#include "Frontend/Emit/Emitter.h"

using namespace mlir;

namespace tile::frontend {

/// Returns the first argument, a pointer to bytes; an error value after a message.
static SymValue mapOperand(BuiltinCall &call, size_t index) {
  SymValue pointer = call.tensor(index);
  if (pointer.isError())
    return {};
  if (!pointer.isScalar() || !pointer.type.isPointer)
    return call.sema.error(Diag::tensor_map_needed, call.rangeOf(index), {describe(pointer)});
  return call.sema.cast(pointer, DType(Scalar::Int8, /*isPointer=*/true), call.rangeOf(index));
}

/// Checks that TMA can copy the block. Returns false after a message.
static bool isCopied(BuiltinCall &call, size_t index, ArrayRef<int64_t> block, DType element) {
  constexpr int64_t leastBytes = 16, mostRows = 256; // CUDA driver API, cuTensorMapEncodeTiled
  int64_t bytes = block.empty() ? 0 : block.back() * std::max(element.bits(), 8u) / 8;
  auto fail = [&](std::string found, std::string expected) {
    call.sema.error(Diag::descriptor_block, call.rangeOf(index), {std::move(found), std::move(expected)});
    return false;
  };
  if (block.empty() || block.size() > 2)
    return fail(std::to_string(block.size()) + " dimensions", "1 or 2");
  if (bytes < leastBytes)
    return fail("rows of " + std::to_string(bytes) + " bytes", "at least " + std::to_string(leastBytes));
  if (block.size() == 2 && block[0] > mostRows)
    return fail(std::to_string(block[0]) + " rows", "at most " + std::to_string(mostRows));
  return true;
}

static SymValue openMap(BuiltinCall &call, const SymValue &map, ArrayRef<int64_t> block, DType element) {
  Emitter &sema = call.sema;
  Type type = DescType::get(&sema.context, block, sema.mlirType(element));
  SymValue result;
  result.kind = SymValue::Kind::Descriptor;
  result.type = element;
  result.value = OpenTensorMapOp::create(sema.builder, sema.location(call.range), type, map.value);
  // Only the map has the sizes and strides of the tensor.
  result.elements = {SymValue::makeTuple({}), SymValue::makeTuple({})};
  return result;
}

SymValue emitReinterpretMap(Emitter &, BuiltinCall &call) {
  SymValue map = mapOperand(call, 0);
  auto block = call.shape(1);
  std::optional<DType> element = call.dtype(2);
  if (map.isError() || !block || !element || !isCopied(call, 1, *block, *element))
    return {};
  return openMap(call, map, *block, *element);
}

SymValue emitMapLoad(Emitter &, BuiltinCall &call) {
  SymValue map = mapOperand(call, 0);
  auto block = call.shape(2);
  std::optional<DType> element = call.dtype(3);
  if (map.isError() || !block || !element || !isCopied(call, 2, *block, *element))
    return {};
  return callValues(call, "desc.load", {openMap(call, map, *block, *element), call[1]});
}

SymValue emitMapStore(Emitter &, BuiltinCall &call) {
  SymValue map = mapOperand(call, 0);
  SymValue value = call.block(1);
  if (map.isError() || value.isError() || !isCopied(call, 1, value.shape(), value.type))
    return {};
  return callValues(call, "desc.store", {openMap(call, map, value.shape(), value.type), call[2], value});
}

/// Emits the creation of a tensor map. The arguments are desc_ptr, global_address, load_size, global_size and
/// element_ty. For one dimension, sizes may be given without brackets.
static SymValue emitCreate(BuiltinCall &call, size_t rank) {
  Emitter &sema = call.sema;
  SymValue map = mapOperand(call, 0), base = call.tensor(1);
  auto block = call.shape(2);
  std::optional<DType> element = call.dtype(4);
  if (map.isError() || base.isError() || !block || !element || !isCopied(call, 2, *block, *element))
    return {};
  if (block->size() != rank)
    return sema.error(Diag::descriptor_block, call.rangeOf(2),
                      {std::to_string(block->size()) + " dimensions", std::to_string(rank)});
  if (!base.isScalar() || !base.type.isPointer)
    return sema.error(Diag::tensor_map_base, call.rangeOf(1), {describe(base)});
  if (!call[3].isTuple())
    call.arguments[3].value = SymValue::makeTuple({call[3]});
  auto sizes = call.integers(3, rank, Scalar::Int32);
  base = sema.cast(base, DType(element->scalar, /*isPointer=*/true), call.rangeOf(1));
  if (!sizes || base.isError())
    return {};
  SmallVector<mlir::Value> shape;
  for (const SymValue &size : *sizes)
    shape.push_back(size.value);
  CreateTensorMapOp::create(sema.builder, sema.location(call.range), map.value, base.value, shape, *block);
  return SymValue::makeConstant(NoneValue{});
}

SymValue emitCreateMap1d(Emitter &, BuiltinCall &call) {
  return emitCreate(call, 1);
}

SymValue emitCreateMap2d(Emitter &, BuiltinCall &call) {
  return emitCreate(call, 2);
}

SymValue emitAcquireMap(Emitter &sema, BuiltinCall &call) {
  SymValue map = mapOperand(call, 0);
  if (map.isError())
    return {};
  AcquireTensorMapOp::create(sema.builder, sema.location(call.range), map.value);
  return SymValue::makeConstant(NoneValue{});
}

} // namespace tile::frontend
