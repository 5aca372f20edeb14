// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel parameters that are tensor descriptors, and the launch arguments that each of them stands for.

#include "Frontend/Emit/EmitMemory.h"
#include "Frontend/Sema/Signature.h"

using namespace mlir;

namespace tile::frontend {

/// Parses "tensordesc<fp16[64, 32]>" in a signature; returns nullopt after an error.
std::optional<KernelParameter> Signature::parseDescriptor(llvm::StringRef text, SourceRange range) {
  KernelParameter parameter;
  auto bad = [&]() -> std::optional<KernelParameter> {
    error(Diag::bad_parameter_type, range, {text.str(), ""});
    return std::nullopt;
  };
  StringRef remaining = text;
  if (!remaining.consume_front("tensordesc<") || !remaining.consume_back(">"))
    return bad();
  // As in make_tensor_descriptor, the padding may be NaN.
  remaining = remaining.trim();
  parameter.padsNan = remaining.consume_back(":nan");
  remaining = remaining.trim();
  if (!remaining.consume_back("]"))
    return bad();
  auto [elementName, sizes] = remaining.split('[');
  std::optional<DType> element = dtypeByName(elementName.trim().str());
  if (!element || (parameter.padsNan && !element->isFloat()))
    return bad();
  SmallVector<StringRef> parts;
  sizes.split(parts, ',');
  for (StringRef part : parts) {
    int64_t size = 0;
    if (part.trim().getAsInteger(10, size)) {
      // The size may be an expression of constexprs, such as BLOCK_M or BLOCK_N // 2, which a tuner may choose.
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
  if (int64_t bytes = rowBytes(parameter.block, *element); bytes < leastRowBytes) {
    error(Diag::descriptor_block, range,
          {"rows of " + std::to_string(bytes) + " bytes", "at least " + std::to_string(leastRowBytes)});
    return std::nullopt;
  }
  parameter.type = *element;
  return parameter;
}

std::vector<KernelArgument> Signature::argumentsOf(const std::string &name, const KernelParameter &parameter) {
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
  std::vector<KernelArgument> arguments{{name, DType(parameter.type.scalar, /*isPointer=*/true), leastRowBytes}};
  for (size_t i = 0; i < parameter.block.size(); ++i)
    arguments.push_back({name + "_shape" + std::to_string(i), Scalar::Int32, 1});
  for (size_t i = 0; i + 1 < parameter.block.size(); ++i)
    arguments.push_back({name + "_stride" + std::to_string(i), Scalar::Int64, static_cast<int>(leastRowBytes) / bytes});
  for (KernelArgument &argument : arguments)
    if (auto found = parameter.assumptions.find(argument.name); found != parameter.assumptions.end())
      argument.divisibility = std::max(argument.divisibility, found->second);
  return arguments;
}

/// Returns the value of a parameter, given its block arguments.
SymValue Signature::parameterValue(const KernelParameter &parameter, ValueRange arguments, SourceRange range) {
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
  SymValue desc = emitter.makeDescriptor(arguments.front(), shape, strides, parameter.block, parameter.type, range);
  return parameter.padsNan ? padWithNan(desc) : desc;
}

} // namespace tile::frontend
