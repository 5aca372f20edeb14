// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates scalar parameters depth-first: a parameter is evaluated after those that its expression uses.
#include "Runner/Inputs/Arguments.h"

#include "Directives/ExpressionTree.h"
#include "Runner/Check/TensorExpr.h"
#include "Runtime/FloatFormat.h"
#include "Runtime/NearestName.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>

namespace tile::runner {

using runtime::Expression;
using runtime::makeError;
using runtime::Success;

namespace {

/// Returns the value of a constant as a user would write it.
std::string constantText(const runtime::ConstantValue &value) {
  if (const std::string *text = std::get_if<std::string>(&value))
    return *text;
  if (const bool *boolean = std::get_if<bool>(&value))
    return *boolean ? "True" : "False";
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  return fmt::format("{}", std::get<double>(value));
}

bool constantEquals(const runtime::ConstantValue &value, const std::string &text) {
  if (constantText(value) == text)
    return true;
  const bool *boolean = std::get_if<bool>(&value);
  return boolean && text == (*boolean ? "1" : "0");
}

} // namespace

std::string suggestion(std::string_view name, const std::vector<std::string> &candidates) {
  const std::string *best = nullptr;
  // This limit ensures that names of one letter are not suggested for each other.
  size_t bestDistance = std::min(std::max<size_t>(1, name.size() / 3) + 1, name.size());
  for (const std::string &candidate : candidates)
    if (const size_t distance = runtime::editDistance(name, candidate); distance < bestDistance) {
      best = &candidate;
      bestDistance = distance;
    }
  return best ? fmt::format("; did you mean '{}'?", *best) : "";
}

/// Returns a hint for an unknown name.
static std::string unknownName(std::string_view name, const std::vector<std::string> &known) {
  const std::string nearest = suggestion(name, known);
  return nearest.empty() && !known.empty() ? runtime::knownNames(name, known) : nearest;
}

Result<NamedText> splitAssignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !directives::isIdentifier(text.substr(0, equals)) ||
      equals + 1 == text.size())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "argument '{}' is not of the form name=value", text);
  return NamedText{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

/// Evaluates scalar parameters in dependency order.
class ScalarBinder {
public:
  ScalarBinder(const Manifest &manifest, std::map<std::string, std::string> given, Bindings &bindings)
      : manifest(manifest), names(expressionNames(manifest)), given(std::move(given)), bindings(bindings),
        isActive(manifest.parameters.size(), false) {}

  Status bindAll() {
    std::vector<std::string> missing;
    for (size_t i = 0; i < manifest.parameters.size(); ++i) {
      const Parameter &parameter = manifest.parameters[i];
      if (!parameter.isPointer && !given.contains(parameter.name) && !parameter.defaultValue)
        missing.push_back(fmt::format("{} ({})", parameter.name, parameter.typeName()));
    }
    if (!missing.empty())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "no value for {}; give {}=...", fmt::join(missing, ", "),
                       missing[0].substr(0, missing[0].find(' ')));
    for (size_t i = 0; i < manifest.parameters.size(); ++i)
      if (!manifest.parameters[i].isPointer)
        if (Status status = bindOne(i); !status)
          return status;
    return Success{};
  }

private:
  Status bindOne(size_t index) {
    ScalarBinding &binding = bindings.scalars[index];
    if (binding.isBound)
      return Success{};
    const Parameter &parameter = manifest.parameters[index];
    path.push_back(parameter.name);
    if (isActive[index])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the values of parameters are circular: {}",
                       fmt::join(path, " -> "));
    isActive[index] = true;
    const auto it = given.find(parameter.name);
    const bool isGiven = it != given.end();
    const std::string &text = isGiven ? it->second : *parameter.defaultValue;
    Status status = parameter.isInteger() ? bindInteger(index, text) : bindFloat(index, text);
    if (!status)
      return explain(status, parameter, isGiven);
    binding.isBound = true;
    isActive[index] = false;
    path.pop_back();
    return Success{};
  }

  /// Prefixes the message with the name of the parameter. Does so only once, for the innermost parameter.
  Status explain(const Status &status, const Parameter &parameter, bool isGiven) {
    if (hasPlace || status.error().message.starts_with("the values of"))
      return status;
    hasPlace = true;
    Error error = runtime::withContext(fmt::format("{} of parameter '{}' ({})", isGiven ? "argument" : "default",
                                                   parameter.name, parameter.typeName()),
                                       status.error());
    if (isGiven) // the error is the user's, not the artifact's
      error.code = TILE_ERROR_INVALID_ARGUMENT;
    return error;
  }

  Status bindInteger(size_t index, const std::string &text) {
    const Parameter &parameter = manifest.parameters[index];
    if (parameter.type == runtime::DataType::I1 && (text == "true" || text == "false"))
      return setInteger(index, text == "true");
    Result<Expression> expression = Expression::compile(text, names);
    if (double real = 0; !expression) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
      const bool hasOnlyDigits = text.find_first_not_of("-0123456789") == text.npos; // an integer that is too large
      if (error == std::errc() && end == text.data() + text.size() && !hasOnlyDigits)
        return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is not an integer", text);
      return expression.error();
    }
    for (unsigned slot : expression->usedSlots())
      if (slot < manifest.parameters.size())
        if (Status status = bindOne(slot); !status)
          return status;
    const runtime::WideEvaluation evaluation = expression->evaluateWide(bindings.wideSlots);
    if (evaluation.error != runtime::EvaluationError::None)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}': {}", text, evaluationErrorText(evaluation.error));
    return setInteger(index, evaluation.value);
  }

  Status setInteger(size_t index, WideInteger value) {
    const Parameter &parameter = manifest.parameters[index];
    const runtime::IntegerRange range = runtime::integerRange(parameter.type);
    if (value < range.lowest || value > range.highest)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} does not fit {} ({} to {})", value, parameter.typeName(),
                       range.lowest, range.highest);
    bindings.scalars[index].integer = value;
    bindings.slotValues[index] = static_cast<int64_t>(value);
    bindings.wideSlots[index] = value;
    return Success{};
  }

  Status bindFloat(size_t index, const std::string &text) {
    const Parameter &parameter = manifest.parameters[index];
    Result<TensorExpression> expression = TensorExpression::parse(text);
    if (!expression)
      return expression.error();
    TensorNames values;
    for (const auto &[name, value] : manifest.constants) {
      if (const int64_t *integer = std::get_if<int64_t>(&value))
        values.scalars[name] = static_cast<double>(*integer);
      else if (const double *real = std::get_if<double>(&value))
        values.scalars[name] = *real;
    }
    for (const std::string &name : expression->names())
      for (size_t i = 0; i < manifest.parameters.size(); ++i) {
        const Parameter &used = manifest.parameters[i];
        if (used.name != name || used.isPointer)
          continue;
        if (Status status = bindOne(i); !status)
          return status;
        values.scalars[name] =
            used.isInteger() ? static_cast<double>(bindings.scalars[i].integer) : bindings.scalars[i].real;
      }
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, values);
    if (!bound)
      return bound.error();
    const double value = bound->evaluate({}).values[0];
    const double rounded = runtime::decodeFloat(parameter.type, runtime::encodeFloat(parameter.type, value));
    if (!std::isfinite(rounded))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} does not fit {}", value, parameter.typeName());
    bindings.scalars[index].real = rounded;
    return Success{};
  }

  const Manifest &manifest;
  const runtime::ExpressionNames names;
  const std::map<std::string, std::string> given;
  Bindings &bindings;
  std::vector<bool> isActive;
  std::vector<std::string> path;
  bool hasPlace = false;
};

Result<Bindings> Bindings::bind(const Manifest &manifest, const std::vector<std::string> &assignments, int numSms) {
  std::map<std::string, std::string> given;
  std::vector<std::string> known;
  for (const Parameter &parameter : manifest.parameters)
    known.push_back(parameter.name);
  for (const std::string &assignment : assignments) {
    Result<NamedText> split = splitAssignment(assignment);
    if (!split)
      return split.error();
    const auto &[name, value] = *split;
    if (const Parameter *parameter = manifest.findParameter(name); !parameter) {
      const auto constant = std::find_if(manifest.constants.begin(), manifest.constants.end(),
                                         [&](const auto &entry) { return entry.first == name; });
      if (constant == manifest.constants.end())
        return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has no parameter '{}'{}", manifest.kernel, name,
                         unknownName(name, known));
      if (!constantEquals(constant->second, value))
        return makeError(TILE_ERROR_INVALID_ARGUMENT,
                         "'{}' is compiled in as {} and cannot be {} at launch; compile the kernel again", name,
                         constantText(constant->second), value);
      continue;
    }
    if (!given.emplace(name, value).second)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "argument '{}' is given twice", name);
  }
  Bindings bindings;
  bindings.scalars.resize(manifest.parameters.size());
  bindings.slotValues.assign(manifest.parameters.size() + 1, 0);
  bindings.slotValues.back() = numSms;
  bindings.wideSlots.assign(bindings.slotValues.begin(), bindings.slotValues.end());
  for (const Parameter &parameter : manifest.parameters) {
    const auto text = given.find(parameter.name);
    bindings.bufferTexts.push_back(!parameter.isPointer  ? ""
                                   : text != given.end() ? text->second
                                                         : parameter.defaultValue.value_or(""));
  }
  if (Status status = ScalarBinder(manifest, std::move(given), bindings).bindAll(); !status)
    return status.error();
  return bindings;
}

std::string Bindings::summary(const Manifest &manifest) const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    if (parameter.isInteger())
      parts.push_back(fmt::format("{}={}", parameter.name, scalars[i].integer));
    else if (!parameter.isPointer)
      parts.push_back(
          fmt::format("{}={:.6g}", parameter.name, scalars[i].real)); // as typed, before rounding to the type
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

uint64_t Bindings::argumentBits(const Manifest &manifest, size_t parameter) const {
  const Parameter &type = manifest.parameters[parameter];
  return type.isInteger() ? static_cast<uint64_t>(scalars[parameter].integer)
                          : runtime::encodeFloat(type.type, scalars[parameter].real);
}

Result<std::vector<int64_t>> Bindings::evaluate(const std::vector<std::string> &texts, const Manifest &manifest) const {
  std::vector<int64_t> values;
  for (const std::string &text : texts) {
    Result<WideInteger> value = evaluate(text, manifest);
    if (!value)
      return value.error();
    if (*value < INT64_MIN || *value > INT64_MAX)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}': {} does not fit a signed 64-bit integer", text, *value);
    values.push_back(static_cast<int64_t>(*value));
  }
  return values;
}

Result<WideInteger> Bindings::evaluate(const std::string &text, const Manifest &manifest) const {
  Result<Expression> expression = Expression::compile(text, expressionNames(manifest));
  if (!expression)
    return expression.error();
  const runtime::WideEvaluation evaluation = expression->evaluateWide(wideSlots);
  if (evaluation.error != runtime::EvaluationError::None)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}': {}", text, evaluationErrorText(evaluation.error));
  return evaluation.value;
}

Result<std::vector<int64_t>> bindGrid(const Manifest &manifest, const Bindings &bindings) {
  if (manifest.launch.grid.empty())
    return makeError(TILE_ERROR_GRID, "kernel '{}' declares no grid; give --grid=X,Y,Z", manifest.kernel);
  Result<std::vector<int64_t>> grid = bindings.evaluate(manifest.launch.grid, manifest);
  if (!grid)
    return runtime::withContext("grid", grid.error());
  grid->resize(3, 1);
  return grid;
}

std::optional<SizeRange> parseRange(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos)
    return std::nullopt;
  SizeRange range;
  const char *middle = text.data() + dots, *last = text.data() + text.size();
  const auto low = std::from_chars(text.data(), middle, range.low);
  const auto high = std::from_chars(middle + 2, last, range.high);
  if (low.ec != std::errc() || low.ptr != middle || high.ec != std::errc() || high.ptr != last)
    return std::nullopt;
  return range;
}

Result<BufferOffsets> parseOffsets(const std::vector<std::string> &texts, const Manifest &manifest) {
  constexpr int64_t largest = 4096; // in elements; the guard before the buffer grows by the offset
  BufferOffsets offsets;
  std::vector<std::string> known;
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.isPointer)
      known.push_back(parameter.name);
  for (const std::string &text : texts) {
    Result<NamedText> split = splitAssignment(text);
    if (!split)
      return split.error();
    if (std::find(known.begin(), known.end(), split->name) == known.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has no buffer '{}'{}", manifest.kernel, split->name,
                       suggestion(split->name, known));
    int64_t value = -1;
    const char *end = split->value.data() + split->value.size();
    const auto [last, error] = std::from_chars(split->value.data(), end, value);
    if (error != std::errc() || last != end || value < 0 || value > largest)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' is not a number of elements from 0 to {}", text, largest);
    offsets[split->name] = value;
  }
  return offsets;
}

} // namespace tile::runner
