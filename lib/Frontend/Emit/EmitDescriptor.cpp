// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor descriptors: their builtins, and kernel parameters that are descriptors.
//
//   a: tensordesc<fp16[64, 32]>   becomes a pointer, the sizes and all strides but the last, which is 1:
//   a: *fp16, a_shape0: i32, a_shape1: i32, a_stride0: i64     and, at the start of the kernel,
//   a = make_tensor_descriptor(a, [a_shape0, a_shape1], [a_stride0, 1], [64, 32])

#include "Frontend/Emit/EmitMemory.h"
#include "Frontend/Sema/ModuleSema.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

// The innermost row of a TMA box, the base and the strides are multiples of 16 bytes (CUDA driver API,
// cuTensorMapEncodeTiled).
constexpr int64_t leastBytes = 16;

SymValue Sema::makeDescriptor(mlir::Value base, ArrayRef<mlir::Value> shape, ArrayRef<mlir::Value> strides,
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
static SymValue padWithNan(SymValue desc) {
  auto type = llvm::cast<DescType>(desc.value.getType());
  desc.value.setType(DescType::get(type.getContext(), type.getShape(), type.getElementType(), /*padsNan=*/true));
  return desc;
}

static int64_t rowBytes(ArrayRef<int64_t> block, DType element) {
  return block.back() * std::max(element.bits(), 8u) / 8;
}

bool scalarList(BuiltinCall &call, size_t index, DType type, size_t rank, SmallVectorImpl<mlir::Value> &out) {
  auto integers = call.integers(index, rank, type);
  if (integers)
    for (const SymValue &integer : *integers)
      out.push_back(integer.value);
  return integers.has_value();
}

/// Saturates wider sizes to 32 bits: offsets also have 32 bits, so they do not reach larger coordinates.
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

SymValue emitMakeDescriptor(Sema &sema, BuiltinCall &call) {
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
  if (rowBytes(*block, element) < leastBytes)
    return sema.error(
        Diag::descriptor_block, call.rangeOf(3),
        {"rows of " + std::to_string(rowBytes(*block, element)) + " bytes", "at least " + std::to_string(leastBytes)});
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

SymValue emitDescriptorLoad(Sema &sema, BuiltinCall &call) {
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
  Sema &sema = call.sema;
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

SymValue emitDescriptorStore(Sema &, BuiltinCall &call) {
  return descriptorOperand(call) ? storeBlock(call, std::nullopt) : SymValue();
}

//===------------------------------------------------------------------------------------------- kernel parameters

/// Parses "tensordesc<fp16[64, 32]>" of a signature; nullopt after an error.
std::optional<ModuleSema::KernelParameter> ModuleSema::parseDescriptor(llvm::StringRef text, SourceRange range) {
  KernelParameter parameter;
  auto bad = [&]() -> std::optional<KernelParameter> {
    error(Diag::bad_parameter_type, range, {text.str(), ""});
    return std::nullopt;
  };
  StringRef rest = text;
  if (!rest.consume_front("tensordesc<") || !rest.consume_back(">"))
    return bad();
  // As in make_tensor_descriptor, the padding may be NaN.
  rest = rest.trim();
  parameter.padsNan = rest.consume_back(":nan");
  rest = rest.trim();
  if (!rest.consume_back("]"))
    return bad();
  auto [elementName, sizes] = rest.split('[');
  std::optional<DType> element = dtypeByName(elementName.trim().str());
  if (!element || (parameter.padsNan && !element->isFloat()))
    return bad();
  SmallVector<StringRef> parts;
  sizes.split(parts, ',');
  for (StringRef part : parts) {
    int64_t size = 0;
    if (part.trim().getAsInteger(10, size)) {
      // BLOCK_M, or BLOCK_N // 2: values of constexprs, which a tuner may choose.
      std::optional<SymValue> value = evaluateText(part.trim().str(), "<signature>");
      std::optional<Int128> number = value && value->isConstant() ? asInteger(value->constant) : std::nullopt;
      size = number && *number <= maxBlockElements ? static_cast<int64_t>(*number) : 0;
    }
    if (size < 1)
      return bad();
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(size))) {
      error(Diag::shape_size, range, {std::to_string(size), ""});
      return std::nullopt;
    }
    parameter.block.push_back(size);
  }
  constexpr size_t mostDimensions = 5;
  if (parameter.block.size() > mostDimensions) {
    error(Diag::descriptor_block, range, {std::to_string(parameter.block.size()) + " dimensions", "1 to 5"});
    return std::nullopt;
  }
  if (int64_t bytes = rowBytes(parameter.block, *element); bytes < leastBytes) {
    error(Diag::descriptor_block, range,
          {"rows of " + std::to_string(bytes) + " bytes", "at least " + std::to_string(leastBytes)});
    return std::nullopt;
  }
  parameter.type = *element;
  return parameter;
}

std::vector<ModuleSema::KernelArgument> ModuleSema::argumentsOf(const std::string &name,
                                                                const KernelParameter &parameter) {
  if (parameter.constant)
    return {};
  if (parameter.isTuple) {
    std::vector<KernelArgument> all;
    forEachLeaf(name, parameter, [&](const std::string &leaf, const KernelParameter &element) {
      std::vector<KernelArgument> arguments = argumentsOf(leaf, element);
      all.insert(all.end(), arguments.begin(), arguments.end());
    });
    return all;
  }
  if (parameter.block.empty())
    return {{name, parameter.type, parameter.divisibility}};
  int bytes = static_cast<int>(std::max(parameter.type.bits(), 8u) / 8);
  std::vector<KernelArgument> arguments{{name, DType(parameter.type.scalar, /*isPointer=*/true), leastBytes}};
  for (size_t i = 0; i < parameter.block.size(); ++i)
    arguments.push_back({name + "_shape" + std::to_string(i), Scalar::Int32, 1});
  for (size_t i = 0; i + 1 < parameter.block.size(); ++i)
    arguments.push_back({name + "_stride" + std::to_string(i), Scalar::Int64, static_cast<int>(leastBytes) / bytes});
  for (KernelArgument &argument : arguments)
    if (auto found = parameter.assumptions.find(argument.name); found != parameter.assumptions.end())
      argument.divisibility = std::max(argument.divisibility, found->second);
  return arguments;
}

/// Returns the value of a parameter, given its block arguments.
SymValue ModuleSema::parameterValue(const KernelParameter &parameter, ValueRange arguments, SourceRange range) {
  if (parameter.constant)
    return *parameter.constant;
  if (parameter.isTuple)
    return tupleValue(parameter, [&](const KernelParameter &element) {
      size_t count = argumentsOf("", element).size();
      SymValue value = parameterValue(element, arguments.take_front(count), range);
      arguments = arguments.drop_front(count);
      return value;
    });
  if (parameter.block.empty())
    return SymValue::makeTensor(arguments.front(), parameter.type);
  size_t rank = parameter.block.size();
  mlir::Value one = arith::ConstantIntOp::create(builder, location(range), 1, 64);
  SmallVector<mlir::Value> shape(arguments.slice(1, rank)), strides(arguments.slice(1 + rank, rank - 1));
  strides.push_back(one);
  SymValue desc = makeDescriptor(arguments.front(), shape, strides, parameter.block, parameter.type, range);
  return parameter.padsNan ? padWithNan(desc) : desc;
}

} // namespace tile::frontend
