// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of builtins and the accessors of bound arguments.

#include "Frontend/Emit/Builtins.h"

#include "Frontend/Syntax/Literals.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr BuiltinInfo builtins[] = {
#define TILE_BUILTIN(name, parameters, emitter, flags) {name, parameters, emitter, flags},
#include "Frontend/Syntax/Builtins.def"
#define TILE_PYTHON(name, parameters, rule, emitter) {name, parameters, emitter, Plain, rule},
#include "Frontend/Syntax/PythonFunctions.def"
};

} // namespace

const BuiltinInfo *findBuiltin(std::string_view name) {
  for (const BuiltinInfo &info : builtins)
    if (info.name == name)
      return &info;
  return nullptr;
}

std::vector<std::string> builtinNames() {
  std::vector<std::string> names;
  for (const BuiltinInfo &info : builtins) {
    StringRef name = info.name;
    name.consume_front("builtins.");
    if (!name.contains('.'))
      names.push_back(name.str());
  }
  return names;
}

SymValue callValues(BuiltinCall &call, std::string_view name, const std::vector<SymValue> &arguments) {
  return call.sema.callValue(SymValue::makeConstant(findBuiltin(name)), arguments, call.range);
}

SymValue BuiltinCall::tensor(size_t index) const {
  return sema.toTensor(arguments[index].value, rangeOf(index));
}

SymValue BuiltinCall::block(size_t index) const {
  SymValue value = tensor(index);
  if (value.isError() || value.isBlock())
    return value;
  return sema.error(Diag::block_needed, rangeOf(index),
                    {std::string(arguments[index].name), std::string(info.name), describe(value)});
}

SymValue BuiltinCall::constantNeeded(size_t index) const {
  const Argument &argument = arguments[index];
  std::string what = "'" + std::string(argument.name) + "' of " + std::string(info.name);
  return sema.error(Diag::constant_needed, argument.range, {what, describe(argument.value)});
}

std::optional<int64_t> BuiltinCall::integer(size_t index) const {
  const SymValue &value = arguments[index].value;
  if (value.isError())
    return std::nullopt;
  std::optional<Int128> number = value.isConstant() ? asInteger(value.constant) : std::nullopt;
  bool fits = number && *number >= INT64_MIN && *number <= INT64_MAX;
  if (!fits) {
    constantNeeded(index);
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

std::optional<bool> BuiltinCall::flag(size_t index) const {
  const SymValue &value = arguments[index].value;
  if (value.isError())
    return std::nullopt;
  std::optional<bool> result = value.isConstant() ? truth(value.constant) : std::nullopt;
  if (!result)
    constantNeeded(index);
  return result;
}

std::optional<std::string> BuiltinCall::text(size_t index) const {
  const SymValue &value = arguments[index].value;
  const auto *string = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
  if (string)
    return *string;
  if (value.isNoneValue())
    return std::string();
  if (!value.isError())
    constantNeeded(index);
  return std::nullopt;
}

std::optional<DType> BuiltinCall::dtype(size_t index) const {
  const SymValue &value = arguments[index].value;
  const auto *type = value.isConstant() ? std::get_if<DType>(&value.constant) : nullptr;
  if (type)
    return *type;
  if (!value.isError())
    sema.error(Diag::type_needed, rangeOf(index), {std::string(arguments[index].name), describe(value)});
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> BuiltinCall::shape(size_t index) const {
  SymValue value = arguments[index].value;
  // f(x, (2, 3)) and f(x, 2, 3) are equivalent.
  if (value.isTuple() && value.elements.size() == 1 && value.elements[0].isTuple())
    value = SymValue(value.elements[0]);
  if (value.isConstant() && asInteger(value.constant))
    value = SymValue::makeTuple({value});
  if (value.isError())
    return std::nullopt;
  SmallVector<int64_t> sizes;
  Int128 elements = 1;
  for (const SymValue &element : value.elements) {
    std::optional<Int128> size = element.isConstant() ? asInteger(element.constant) : std::nullopt;
    if (element.isError())
      return std::nullopt;
    if (!size) {
      sema.error(Diag::constant_needed, rangeOf(index), {"a size of a shape", describe(element)});
      return std::nullopt;
    }
    if (*size > maxBlockElements) {
      sema.error(Diag::too_many_elements, rangeOf(index), {"of " + toString(*size), std::to_string(maxBlockElements)});
      return std::nullopt;
    }
    if (*size <= 0 || !sema.isBlockSize(static_cast<int64_t>(*size))) {
      std::string hint =
          *size > 0 ? "; the next one is " + std::to_string(llvm::PowerOf2Ceil(static_cast<uint64_t>(*size))) : "";
      sema.error(Diag::shape_size, rangeOf(index), {toString(*size), hint});
      return std::nullopt;
    }
    elements *= *size;
    sizes.push_back(static_cast<int64_t>(*size));
  }
  if (!value.isTuple()) {
    constantNeeded(index);
    return std::nullopt;
  }
  if (elements > maxBlockElements) {
    sema.error(Diag::too_many_elements, rangeOf(index), {"of " + toString(elements), std::to_string(maxBlockElements)});
    return std::nullopt;
  }
  return sizes;
}

std::optional<int64_t> BuiltinCall::axis(size_t index, size_t rank) const {
  std::optional<int64_t> value = integer(index);
  if (!value)
    return std::nullopt;
  auto size = static_cast<int64_t>(rank);
  if (*value >= -size && *value < size)
    return *value < 0 ? *value + size : *value;
  sema.error(Diag::axis_range, rangeOf(index), {std::to_string(*value), std::to_string(rank)});
  return std::nullopt;
}

std::optional<std::vector<SymValue>> BuiltinCall::integers(size_t index, size_t rank, DType type) const {
  const Argument &list = arguments[index];
  if (list.value.isError())
    return std::nullopt;
  if (!list.value.isTuple() || list.value.elements.size() != rank) {
    sema.error(Diag::descriptor_rank, list.range, {std::string(list.name), describe(list.value), std::to_string(rank)});
    return std::nullopt;
  }
  std::vector<SymValue> result;
  for (const SymValue &element : list.value.elements) {
    SymValue value = sema.toTensor(element, list.range);
    if (value.isError())
      return std::nullopt;
    if (!value.isScalar() || !value.type.isInt() || value.type.isBool()) {
      sema.error(Diag::integer_scalar, list.range, {std::string(list.name), describe(value)});
      return std::nullopt;
    }
    result.push_back(sema.cast(value, type, list.range));
  }
  return result;
}

} // namespace tile::frontend
