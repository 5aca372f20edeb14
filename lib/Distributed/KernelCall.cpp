// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/KernelCall.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace tile::dist {

static constexpr std::array<const char *, numNames> names = {
#define NAME(name) #name,
#include "Distributed/KernelNames.def"
};

Result<KernelCall> KernelCall::make(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided,
                                    std::span<const tile_dist_argument> extra) {
  if (!kernel)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.{} is a null pointer; this form needs it", role);
  tile_kernel_info info;
  if (tile_kernel_describe(kernel, &info) != TILE_OK)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.{}: {}", role, tile_last_error());
  KernelCall call;
  call.kernel = kernel;
  call.role = role;
  call.places.fill(-1);
  for (uint32_t index = 0; index < info.parameter_count; ++index) {
    tile_parameter parameter;
    if (tile_kernel_parameter(kernel, index, &parameter) != TILE_OK)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.{}: {}", role, tile_last_error());
    tile_value value = {};
    value.kind = parameter.kind;
    const auto isThis = [&](const tile_dist_argument &argument) {
      return std::string_view(argument.name) == parameter.name;
    };
    const auto given = std::find_if(extra.begin(), extra.end(), isThis);
    const auto known = std::find(names.begin(), names.end(), std::string_view(parameter.name));
    const bool isProvided = known != names.end() &&
                            std::find(provided.begin(), provided.end(), Name(known - names.begin())) != provided.end();
    if (isProvided)
      call.places[known - names.begin()] = int(index);
    else if (given != extra.end())
      value = given->value;
    else
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "kernels.{}: kernel '{}' has a parameter '{}', for which there is no argument", role, info.entry,
                       parameter.name);
    call.values.push_back(value);
  }
  for (Name name : provided)
    if (call.places[size_t(name)] < 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.{}: kernel '{}' has no parameter '{}'", role, info.entry,
                       names[size_t(name)]);
  return call;
}

void KernelCall::set(std::initializer_list<Argument> arguments) {
  for (const Argument &argument : arguments) {
    const int place = places[size_t(argument.name)];
    if (place < 0)
      continue;
    tile_value &value = values[size_t(place)];
    if (value.kind == TILE_POINTER)
      value.as.pointer = uint64_t(argument.value);
    else
      value.as.integer = argument.value;
  }
}

Result<size_t> KernelCall::prepare(int multiprocessors) {
  size_t bytes = 0;
  tile_status status = tile_kernel_prepare(kernel);
  if (status == TILE_OK)
    status = tile_kernel_scratch_bytes(kernel, multiprocessors, &bytes);
  if (status != TILE_OK)
    return makeError(status, "kernels.{}: {}", role, tile_last_error());
  return bytes;
}

Status KernelCall::launch(CUstream stream, std::initializer_list<Argument> arguments) {
  set(arguments);
  tile_launch_options options = {};
  options.stream = stream;
  if (scratch) {
    options.scratch = reinterpret_cast<void *>(scratch);
    options.scratch_bytes = scratchBytes;
  }
  const tile_status status = tile_launch_values(kernel, &options, values.data(), values.size());
  if (status != TILE_OK)
    return makeError(status, "kernels.{}: {}", role, tile_last_error());
  return Success{};
}

tile_status KernelCall::choose(int multiprocessors, uint32_t &index) {
  // Parameters have at most 64 bits and are little-endian, so a value of any width starts at the first byte of the
  // union `as`.
  pointers.clear();
  for (tile_value &value : values)
    pointers.push_back(&value.as);
  return tile_kernel_choice(kernel, pointers.data(), pointers.size(), multiprocessors, &index);
}

bool KernelCall::isPointer(Name name) const {
  const int place = places[size_t(name)];
  return place >= 0 && values[size_t(place)].kind == TILE_POINTER;
}

bool KernelCall::hasAccepted(std::initializer_list<Argument> arguments) const {
  const auto covers = [&](const Argument &known, const Argument &asked) {
    if (known.name != asked.name || !isPointer(known.name))
      return known.name == asked.name && known.value == asked.value;
    return std::countr_zero(uint64_t(asked.value)) >= std::countr_zero(uint64_t(known.value));
  };
  return std::any_of(accepted.begin(), accepted.end(), [&](const std::vector<Argument> &known) {
    return std::equal(known.begin(), known.end(), arguments.begin(), arguments.end(), covers);
  });
}

Status KernelCall::check(int multiprocessors, const char *operand, std::initializer_list<Argument> arguments) {
  if (hasAccepted(arguments))
    return Success{};
  const std::vector<tile_value> before = values;
  set(arguments);
  uint32_t index = 0;
  const tile_status status = choose(multiprocessors, index);
  values = before;
  if (status == TILE_OK) {
    accepted.emplace_back(arguments);
    return Success{};
  }
  // The arguments come from the caller of this library, so errors in them are reported as invalid arguments.
  const bool isArgument = status == TILE_ERROR_ASSUMPTION || status == TILE_ERROR_GRID;
  return makeError(isArgument ? TILE_ERROR_INVALID_ARGUMENT : status, "{}: kernels.{}: {}", operand, role,
                   tile_last_error());
}

std::optional<double> KernelCall::estimate(int multiprocessors, std::initializer_list<Argument> arguments) {
  set(arguments);
  uint32_t index = 0;
  tile_variant variant;
  if (choose(multiprocessors, index) != TILE_OK ||
      tile_kernel_estimate(kernel, index, pointers.data(), pointers.size(), multiprocessors, &variant) != TILE_OK ||
      variant.microseconds < 0)
    return std::nullopt;
  return variant.microseconds;
}

} // namespace tile::dist
