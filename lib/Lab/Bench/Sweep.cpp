// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/Sweep.h"

#include "Directives/ExpressionTree.h"

#include <charconv>

namespace tile::runner {

using runtime::makeError;

namespace {

constexpr size_t maxPoints = 100000;

/// Splits the text at commas outside brackets.
std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

/// Parses an integer such as 128 or 2^7.
std::optional<int64_t> parseNumber(std::string_view text) {
  const auto plain = [](std::string_view digits) -> std::optional<int64_t> {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty() ? std::optional(value)
                                                                                           : std::nullopt;
  };
  const size_t caret = text.find('^');
  if (caret == std::string_view::npos)
    return plain(text);
  const std::optional<int64_t> base = plain(text.substr(0, caret)), exponent = plain(text.substr(caret + 1));
  if (!base || !exponent || *exponent < 0)
    return std::nullopt;
  int64_t value = 1;
  for (int64_t i = 0; i < *exponent && *base != 1; ++i)
    if (__builtin_mul_overflow(value, *base, &value))
      return std::nullopt;
  return value;
}

/// Returns an error for an integer or a power that does not fit 64 bits; nullopt for any other text.
std::optional<Error> findTooLarge(std::string_view text) {
  const bool isInteger = !text.empty() && text.find_first_not_of("0123456789^") == text.npos && text.front() != '^' &&
                         text.back() != '^' && text.find('^') == text.rfind('^');
  if (!isInteger || parseNumber(text))
    return std::nullopt;
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} does not fit a signed 64-bit integer", text);
}

/// Expands LOW..HIGH or LOW..HIGH:STEP.
Result<std::vector<std::string>> expandRange(const std::string &item, size_t dots) {
  const size_t colon = item.find(':', dots);
  const std::optional<int64_t> low = parseNumber(std::string_view(item).substr(0, dots)),
                               high = parseNumber(std::string_view(item).substr(dots + 2, colon - dots - 2));
  std::optional<int64_t> step = 0;
  if (colon != std::string::npos)
    step = parseNumber(std::string_view(item).substr(colon + 1));
  const std::string_view bounds[] = {std::string_view(item).substr(0, dots),
                                     std::string_view(item).substr(dots + 2, colon - dots - 2),
                                     colon == std::string::npos ? "" : std::string_view(item).substr(colon + 1)};
  for (std::string_view bound : bounds)
    if (std::optional<Error> error = findTooLarge(bound))
      return *error;
  if (!low || !high || !step || (colon != std::string::npos && *step < 1))
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "'{}' is not a range; expected LOW..HIGH (powers of two in between) or LOW..HIGH:STEP", item);
  if (*low > *high || (*step == 0 && *low < 1))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "range '{}' {}", item,
                     *low > *high ? "is empty" : "doubles from below 1; give a step, LOW..HIGH:STEP");
  std::vector<std::string> values;
  for (int64_t value = *low; value <= *high;) {
    values.push_back(std::to_string(value));
    if (values.size() > maxPoints)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "range '{}' has more than {} values", item, maxPoints);
    if (__builtin_add_overflow(value, *step ? *step : value, &value))
      break;
  }
  return values;
}

/// An argument of the form NAME=NAME=...=VALUE.
struct Tied {
  std::vector<std::string> names;
  std::string value;
};

Tied splitTied(const std::string &argument) {
  Tied tied{{}, argument};
  for (size_t equals = tied.value.find('='); equals != std::string::npos; equals = tied.value.find('=')) {
    const bool isComparison = tied.value.substr(equals, 2) == "==";
    if (isComparison || !directives::isIdentifier(std::string_view(tied.value).substr(0, equals)))
      break;
    tied.names.push_back(tied.value.substr(0, equals));
    tied.value.erase(0, equals + 1);
  }
  return tied;
}

/// Returns the values of one argument, or an empty list if it is not a sweep.
Result<std::vector<std::string>> expandValue(const std::string &text) {
  std::vector<std::string> values;
  for (const std::string &item : splitList(text)) {
    if (item.empty())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the list '{}' has an empty item", text);
    const size_t dots = item.find("..");
    const bool isRange = dots != std::string::npos && dots > 0 && item.find('/') == std::string::npos;
    if (isRange) {
      Result<std::vector<std::string>> range = expandRange(item, dots);
      if (!range)
        return range;
      values.insert(values.end(), range->begin(), range->end());
    } else if (item.find('^') != std::string::npos && parseNumber(item)) {
      values.push_back(std::to_string(*parseNumber(item)));
    } else if (std::optional<Error> error = findTooLarge(item)) {
      return *error;
    } else {
      values.push_back(item);
    }
  }
  return values;
}

} // namespace

Result<std::vector<SweepPoint>> expandSweep(std::span<const std::string> arguments) {
  std::vector<SweepPoint> points(1);
  for (const std::string &argument : arguments) {
    const Tied tied = splitTied(argument);
    if (tied.names.empty() || tied.value.empty()) { // binding the arguments reports the error
      for (SweepPoint &point : points)
        point.arguments.push_back(argument);
      continue;
    }
    Result<std::vector<std::string>> values = expandValue(tied.value);
    if (!values)
      return runtime::withContext("argument '" + argument + "'", values.error());
    if (points.size() * values->size() > maxPoints)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the ranges make more than {} calls", maxPoints);
    std::string names;
    for (const std::string &name : tied.names)
      names += name + "=";
    std::vector<SweepPoint> longer;
    for (const SweepPoint &point : points)
      for (const std::string &value : *values) {
        SweepPoint &next = longer.emplace_back(point);
        for (const std::string &name : tied.names)
          next.arguments.push_back(name + "=" + value);
        if (values->size() > 1)
          next.varying += (next.varying.empty() ? "" : " ") + names + value;
      }
    points = std::move(longer);
  }
  return points;
}

} // namespace tile::runner
