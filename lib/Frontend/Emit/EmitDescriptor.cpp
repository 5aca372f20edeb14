// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: tensor descriptors. Sema/SemaDescriptorParameters.cpp creates the descriptors for descriptor parameters:
//
//   a: tensordesc<fp16[64, 32]>   becomes a pointer, the sizes, and all strides except the last one, which is 1:
//   a: *fp16, a_shape0: i32, a_shape1: i32, a_stride0: i64     and, at the start of the kernel,
//   a = make_tensor_descriptor(a, [a_shape0, a_shape1], [a_stride0, 1], [64, 32])

#include "Frontend/Emit/EmitMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

SymValue Emitter::makeDescriptor(mlir::Value base, ArrayRef<mlir::Value> shape, ArrayRef<mlir::Value> strides,
                                 ArrayRef<int64_t> block, DType element, SourceRange range) {
  SymValue result;
  result.kind = SymValue::Kind::Descriptor;
  result.type = element;
  Type type = DescType::get(&context, block, mlirType(element));
  result.value = MakeDescOp::create(builder, location(range), type, base, shape, strides);
  std::vector<SymValue> sizes, steps;
  for (mlir::Value size : shape)
    sizes.push_back(SymValue::makeTensor(size, Scalar::Int32));
  for (mlir::Value stride : strides)
    steps.push_back(SymValue::makeTensor(stride, Scalar::Int64));
  result.elements = {SymValue::makeTuple(std::move(sizes)), SymValue::makeTuple(std::move(steps)),
                     SymValue::makeTensor(base, DType(element.scalar, /*isPointer=*/true))};
  return result;
}

/// Returns the same descriptor with NaN padding.
SymValue padWithNan(SymValue desc) {
  auto type = llvm::cast<DescType>(desc.value.getType());
  desc.value.setType(DescType::get(type.getContext(), type.getShape(), type.getElementType(), /*padsNan=*/true));
  return desc;
}

int64_t rowBytes(ArrayRef<int64_t> block, DType element) {
  return block.back() * std::max(element.bits(), 8u) / 8;
}

bool scalarList(BuiltinCall &call, size_t index, DType type, size_t rank, SmallVectorImpl<mlir::Value> &out) {
  auto integers = call.integers(index, rank, type);
  if (integers)
    for (const SymValue &integer : *integers)
      out.push_back(integer.value);
  return integers.has_value();
}

/// Saturates sizes of more than 32 bits to 32 bits. Offsets have 32 bits, so they do not reach larger coordinates.
static void saturateSizes(BuiltinCall &call, size_t index) {
  for (SymValue &size : call.arguments[index].value.elements) {
    std::optional<Int128> known = size.isConstant() ? asInteger(size.constant) : std::nullopt;
    if (known)
      size = SymValue::makeConstant(std::clamp<Int128>(*known, INT32_MIN, INT32_MAX));
    bool isWide = size.isScalar() && size.type.isInt() && maxValue(size.type) > INT32_MAX;
    if (!isWide)
      continue;
    SourceRange range = call.rangeOf(index);
    auto bound = [&](Int128 value) { return call.sema.makeNumber(Value(value), size.type, range); };
    size = call.sema.minimumOrMaximum(/*isMaximum=*/false, size, bound(INT32_MAX), /*propagateNan=*/false, range);
    if (!size.type.isUnsigned())
      size = call.sema.minimumOrMaximum(/*isMaximum=*/true, size, bound(INT32_MIN), /*propagateNan=*/false, range);
    size = call.sema.cast(size, Scalar::Int32, range);
  }
}

SymValue emitMakeDescriptor(Emitter &sema, BuiltinCall &call) {
  SymValue base = pointerOperand(call);
  auto block = call.shape(3);
  std::optional<std::string> padding = call.text(4);
  if (base.isError() || !block || !padding)
    return {};
  if (!base.isScalar())
    return sema.error(Diag::scalar_needed, call.rangeOf(0), {"base", "make_tensor_descriptor", describe(base)});
  bool padsNan = *padding == "nan";
  if (!padsNan && *padding != "zero" && !padding->empty())
    return sema.error(Diag::unknown_option, call.rangeOf(4), {"padding_option", *padding, "'zero' or 'nan'"});
  size_t rank = block->size();
  if (rank < 1 || rank > 5)
    return sema.error(Diag::descriptor_block, call.rangeOf(3), {std::to_string(rank) + " dimensions", "1 to 5"});
  DType element = base.type.pointee();
  if (padsNan && !element.isFloat())
    return sema.error(Diag::unknown_option, call.rangeOf(4), {"padding_option", *padding, "'zero' for integers"});
  if (rowBytes(*block, element) < leastRowBytes)
    return sema.error(Diag::descriptor_block, call.rangeOf(3),
                      {"rows of " + std::to_string(rowBytes(*block, element)) + " bytes",
                       "at least " + std::to_string(leastRowBytes)});
  const SymValue &strides = call[2];
  bool isUnit = strides.isTuple() && !strides.elements.empty() && strides.elements.back().isConstant() &&
                asInteger(strides.elements.back().constant) == Int128(1);
  if (!isUnit && !strides.isError())
    return sema.error(Diag::descriptor_stride, call.rangeOf(2));
  saturateSizes(call, 1);
  SmallVector<mlir::Value> shape, strideValues;
  if (!scalarList(call, 1, Scalar::Int32, rank, shape) || !scalarList(call, 2, Scalar::Int64, rank, strideValues))
    return {};
  SymValue desc = sema.makeDescriptor(base.value, shape, strideValues, *block, element, call.range);
  return padsNan ? padWithNan(desc) : desc;
}

bool descriptorOperand(BuiltinCall &call) {
  const SymValue &desc = call[0];
  if (desc.kind == SymValue::Kind::Descriptor)
    return true;
  if (!desc.isError())
    call.sema.error(Diag::descriptor_needed, call.rangeOf(0), {describe(desc)});
  return false;
}

SymValue emitDescriptorLoad(Emitter &sema, BuiltinCall &call) {
  if (!descriptorOperand(call))
    return {};
  const SymValue &desc = call[0];
  ArrayRef<int64_t> shape = llvm::cast<DescType>(desc.value.getType()).getShape();
  SmallVector<mlir::Value> offsets;
  if (!scalarList(call, 1, Scalar::Int32, shape.size(), offsets))
    return {};
  mlir::Value result =
      DescLoadOp::create(sema.builder, sema.location(call.range), sema.mlirType(desc.type, shape), desc.value, offsets);
  return SymValue::makeTensor(result, desc.type);
}

SymValue storeBlock(BuiltinCall &call, std::optional<AtomicKind> reduce) {
  Emitter &sema = call.sema;
  const SymValue &desc = call[0];
  ArrayRef<int64_t> shape = llvm::cast<DescType>(desc.value.getType()).getShape();
  SmallVector<mlir::Value> offsets;
  SymValue value = sema.cast(call.tensor(2), desc.type, call.rangeOf(2));
  if (value.isError() || !scalarList(call, 1, Scalar::Int32, shape.size(), offsets))
    return {};
  if (value.shape() != shape)
    return sema.error(Diag::descriptor_value, call.rangeOf(2),
                      {describe(value), describe(SymValue::makeTensor(value.value, desc.type))});
  DescStoreOp::create(sema.builder, sema.location(call.range), desc.value, offsets, value.value,
                      reduce ? AtomicKindAttr::get(&sema.context, *reduce) : AtomicKindAttr());
  return SymValue::makeConstant(NoneValue{});
}

SymValue emitDescriptorStore(Emitter &, BuiltinCall &call) {
  return descriptorOperand(call) ? storeBlock(call, std::nullopt) : SymValue();
}

//===------------------------------------------------------------------------------------------- kernel parameters

} // namespace tile::frontend
