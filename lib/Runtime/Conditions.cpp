// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives conditions in the order of the manifest: parameters, then tensor maps.
#include "Runtime/Conditions.h"

#include "Runtime/TensorMap.h"

#include <bit>

namespace tile::runtime {
namespace {

bool isMultiple(int64_t value, uint64_t divisor, bool isUnsigned) {
  return isUnsigned ? static_cast<uint64_t>(value) % divisor == 0 : value % static_cast<int64_t>(divisor) == 0;
}

bool isUnsigned(const Parameter &parameter) {
  return parameter.isPointer || !isSignedType(parameter.type);
}

std::optional<int64_t> valueOf(const Condition &condition, const CallSlots &call) {
  if (!condition.expression || !call.canEvaluate(*condition.expression))
    return std::nullopt;
  const Evaluation evaluation = condition.expression->evaluate(call.values);
  return evaluation.error == EvaluationError::None ? std::optional(evaluation.value) : std::nullopt;
}

Status addMapConditions(const TensorMapSpec &map, const Manifest &general, const ExpressionNames &names,
                        std::vector<Condition> &conditions) {
  const unsigned base = static_cast<unsigned>(general.findParameter(map.base) - general.parameters.data());
  conditions.push_back({Condition::Kind::Alignment, base, mapAlignment, 0, {}});
  const auto add = [&](Condition::Kind kind, const std::string &text) -> Status {
    Result<Expression> expression = Expression::compile(text, names);
    if (!expression)
      return expression.error();
    const uint64_t bytes = kind == Condition::Kind::MapStride ? dataTypeSize(map.element) : 1;
    conditions.push_back({kind, base, bytes, 0, std::move(*expression)});
    return Success{};
  };
  for (const std::string &text : map.shape)
    if (Status status = add(Condition::Kind::MapSize, text); !status)
      return status;
  for (const std::string &text : map.strides)
    if (Status status = add(Condition::Kind::MapStride, text); !status)
      return status;
  return Success{};
}

} // namespace

bool CallSlots::canEvaluate(const Expression &expression) const {
  for (unsigned slot : expression.usedSlots())
    if (slot < general.parameters.size() && general.parameters[slot].type == DataType::U64 && values[slot] < 0)
      return false;
  return true;
}

bool holds(const Condition &condition, const CallSlots &call) {
  const int64_t value = call.values[condition.slot];
  switch (condition.kind) {
  case Condition::Kind::Alignment:
    return static_cast<uint64_t>(value) % condition.divisor == 0;
  case Condition::Kind::Divisor:
    return isMultiple(value, condition.divisor, isUnsigned(call.general.parameters[condition.slot]));
  case Condition::Kind::Value:
    return value == condition.value;
  case Condition::Kind::Requirement:
    return valueOf(condition, call).value_or(0) != 0;
  case Condition::Kind::MapSize: {
    const std::optional<int64_t> size = valueOf(condition, call);
    return size && *size >= 0 && *size <= largestMapSize;
  }
  case Condition::Kind::MapStride: {
    const std::optional<int64_t> stride = valueOf(condition, call);
    const int64_t bytes = static_cast<int64_t>(condition.divisor);
    return stride && *stride >= 0 && *stride < mapStrideLimit / bytes && *stride * bytes % int64_t(mapAlignment) == 0;
  }
  }
  return false;
}

std::optional<SlotTest> simplify(const Condition &condition) {
  const std::optional<unsigned> loaded = condition.expression ? condition.expression->loadedSlot() : std::nullopt;
  switch (condition.kind) {
  case Condition::Kind::Alignment:
  case Condition::Kind::Divisor:
    if (std::has_single_bit(condition.divisor))
      return SlotTest{condition.slot, condition.divisor - 1};
    break;
  case Condition::Kind::Value:
    return SlotTest{condition.slot, 0, static_cast<uint64_t>(condition.value), 0};
  case Condition::Kind::Requirement:
    break;
  case Condition::Kind::MapSize:
    if (loaded)
      return SlotTest{*loaded, 0, 0, static_cast<uint64_t>(largestMapSize)};
    break;
  case Condition::Kind::MapStride:
    if (loaded && condition.divisor <= mapAlignment && std::has_single_bit(condition.divisor))
      return SlotTest{*loaded, mapAlignment / condition.divisor - 1, 0,
                      static_cast<uint64_t>(mapStrideLimit) / condition.divisor - 1};
    break;
  }
  return std::nullopt;
}

std::string valuesIn(const Expression &expression, const CallSlots &call) {
  std::string text;
  for (unsigned slot : expression.usedSlots())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ",
                        slot < call.general.parameters.size() ? call.general.parameters[slot].name : "num_sms",
                        call.values[slot]);
  return text.empty() ? "any arguments" : text;
}

Error explainFailure(const Condition &condition, const CallSlots &call) {
  if (condition.kind == Condition::Kind::Requirement)
    return makeError(TILE_ERROR_ASSUMPTION, "it requires {}, which does not hold for {}", condition.expression->text(),
                     valuesIn(*condition.expression, call));
  const Parameter &parameter = call.general.parameters[condition.slot];
  const int64_t value = call.values[condition.slot];
  const std::string name = fmt::format("parameter {} '{}'", condition.slot, parameter.name);
  const auto number = [&] {
    return isUnsigned(parameter) ? fmt::format("{}", static_cast<uint64_t>(value)) : fmt::format("{}", value);
  };
  switch (condition.kind) {
  case Condition::Kind::Alignment:
    return makeError(TILE_ERROR_ASSUMPTION, "{} is {:#x}, which is not a multiple of {} bytes", name,
                     static_cast<uint64_t>(value), condition.divisor);
  case Condition::Kind::Divisor:
    return makeError(TILE_ERROR_ASSUMPTION, "{} is {}, which is not a multiple of {}", name, number(),
                     condition.divisor);
  case Condition::Kind::Value:
    return makeError(TILE_ERROR_ASSUMPTION, "{} is {}; expected {}", name, number(), condition.value);
  default:
    break;
  }
  const bool isSize = condition.kind == Condition::Kind::MapSize;
  const std::string what = fmt::format("{} '{}' of the tensor map of '{}'", isSize ? "dimension" : "stride",
                                       condition.expression->text(), parameter.name);
  const std::optional<int64_t> found = valueOf(condition, call);
  if (!found)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} cannot be evaluated in 64 bits", what);
  const int64_t bytes = static_cast<int64_t>(condition.divisor);
  const int64_t largest = isSize ? largestMapSize : mapStrideLimit / bytes - 1;
  if (*found < 0 || *found > largest)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is {}; expected 0 to {}", what, *found, largest);
  return makeError(TILE_ERROR_ASSUMPTION, "{} is {} elements, {} bytes, which is not a multiple of {} bytes", what,
                   *found, *found * bytes, mapAlignment);
}

std::optional<int64_t> integerConstant(const Manifest &manifest, std::string_view name) {
  for (const auto &[constant, value] : manifest.constants) {
    if (constant != name)
      continue;
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      return *integer;
    if (const bool *boolean = std::get_if<bool>(&value))
      return *boolean;
  }
  return std::nullopt;
}

ExpressionNames namesInCall(const Manifest &variant, const Manifest &general) {
  ExpressionNames names = expressionNames(variant); // constants of the variant are found first
  const std::string multiprocessors = names.variables.back().name;
  names.variables.clear();
  for (const Parameter &parameter : general.parameters)
    names.variables.push_back({parameter.name, parameter.isInteger()});
  names.variables.push_back({multiprocessors, true});
  return names;
}

Result<std::vector<Condition>> deriveConditions(const Manifest &variant, const Manifest &general) {
  std::vector<Condition> conditions;
  for (unsigned slot = 0; slot < general.parameters.size(); ++slot) {
    const Parameter &parameter = general.parameters[slot];
    const Parameter *own = variant.findParameter(parameter.name);
    if (!own) {
      const std::optional<int64_t> value = integerConstant(variant, parameter.name);
      if (!value)
        return makeError(TILE_ERROR_MANIFEST, "variant '{}' lacks parameter '{}' and does not fix it to an integer",
                         variant.variant, parameter.name);
      conditions.push_back({Condition::Kind::Value, slot, 1, *value, {}});
    } else if (own->isPointer && own->requiredAlignment() > 1) {
      conditions.push_back({Condition::Kind::Alignment, slot, static_cast<uint64_t>(own->requiredAlignment()), 0, {}});
    } else if (own->isInteger() && own->divisibility > 1) {
      conditions.push_back({Condition::Kind::Divisor, slot, static_cast<uint64_t>(own->divisibility), 0, {}});
    }
  }
  const ExpressionNames names = namesInCall(variant, general);
  for (const TensorMapSpec &map : variant.tensorMaps)
    if (Status status = addMapConditions(map, general, names, conditions); !status)
      return status.error();
  for (const std::string &text : variant.requirements) {
    Result<Expression> expression = Expression::compile(text, names);
    if (!expression)
      return expression.error();
    conditions.push_back({Condition::Kind::Requirement, 0, 1, 0, std::move(*expression)});
  }
  return conditions;
}

} // namespace tile::runtime
