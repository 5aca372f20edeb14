// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads untrusted JSON: wrong types and missing members are errors that name their location.
#pragma once

#include "Runtime/Result.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace tile::runtime {

using Json = nlohmann::ordered_json;

/// Parses JSON. Returns a discarded value if the text is invalid, nests deeper than any valid input (values are copied
/// recursively), or has so many values that a small compressed text could exhaust memory.
inline Json parseJson(std::string_view text) {
  constexpr int deepest = 32;
  constexpr size_t maxValues = size_t(1) << 20; // a pack of 1024 variants has 20,000
  bool isTooLarge = false;
  size_t values = 0;
  const auto watch = [&](int depth, Json::parse_event_t event, Json &) {
    using Event = Json::parse_event_t;
    values += event == Event::value || event == Event::array_start || event == Event::object_start;
    isTooLarge |= depth > deepest || values > maxValues;
    return !isTooLarge;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  return isTooLarge ? Json(Json::value_t::discarded) : json;
}

/// Returns the integer, or nullopt unless the value is an integer that fits in 64 signed bits.
inline std::optional<int64_t> integerOf(const Json &json) {
  const bool fits = json.is_number_integer() &&
                    !(json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  return fits ? std::optional(json.get<int64_t>()) : std::nullopt;
}

/// Reads typed members of one JSON object and remembers the first error, so that a reader is a plain list of fields.
/// The error contains the path of the member; the caller adds the name of the document.
class ObjectReader {
public:
  ObjectReader(const Json &object, std::string path, std::optional<Error> &error)
      : object(object), path(std::move(path)), error(error) {
    if (!object.is_object())
      fail(this->path, "expected an object");
  }

  const Json *find(const char *key) const {
    if (!object.is_object())
      return nullptr;
    const auto it = object.find(key);
    return it == object.end() ? nullptr : &*it;
  }
  std::string pathOf(const char *key) const { return path.empty() ? key : path + "." + key; }

  void fail(const std::string &where, std::string_view message) const {
    if (!error)
      error = makeError(TILE_ERROR_MANIFEST, "{}: {}", where.empty() ? "top level" : where, message);
  }

  std::string string(const char *key, bool required = false) const {
    const Json *value = find(key);
    if (value && value->is_string())
      return value->get<std::string>();
    if (value || required)
      fail(pathOf(key), value ? "expected a string" : "is missing");
    return {};
  }

  int64_t integer(const char *key, int64_t fallback, bool required = false) const {
    const Json *value = find(key);
    if (const std::optional<int64_t> number = value ? integerOf(*value) : std::nullopt)
      return *number;
    if (value || required)
      fail(pathOf(key), value ? "expected an integer" : "is missing");
    return fallback;
  }

  bool boolean(const char *key, bool fallback = false) const {
    const Json *value = find(key);
    if (value && !value->is_boolean())
      fail(pathOf(key), "expected true or false");
    return value && value->is_boolean() ? value->get<bool>() : fallback;
  }

  double number(const char *key) const {
    const Json *value = find(key);
    if (value && value->is_number())
      return value->get<double>();
    fail(pathOf(key), value ? "expected a number" : "is missing");
    return 0;
  }

  /// Reads a list of expressions; integers are accepted and converted to strings.
  std::vector<std::string> strings(const char *key, bool required = false) const {
    std::vector<std::string> result;
    const Json *value = find(key);
    if (!value || !value->is_array()) {
      if (value || required)
        fail(pathOf(key), value ? "expected a list" : "is missing");
      return result;
    }
    for (const Json &element : *value) {
      if (element.is_string())
        result.push_back(element.get<std::string>());
      else if (element.is_number_integer())
        result.push_back(element.dump());
      else
        fail(pathOf(key), "expected a list of expressions");
    }
    return result;
  }

  std::vector<int64_t> integers(const char *key) const {
    std::vector<int64_t> result;
    const Json *value = find(key);
    if (!value || !value->is_array()) {
      fail(pathOf(key), value ? "expected a list of integers" : "is missing");
      return result;
    }
    for (const Json &element : *value) {
      const std::optional<int64_t> number = integerOf(element);
      if (!number) {
        fail(pathOf(key), "expected a list of integers");
        return result;
      }
      result.push_back(*number);
    }
    return result;
  }

  /// Calls function(element, path) for each element of an optional list.
  template <typename Function> void forEach(const char *key, Function function) const {
    const Json *list = find(key);
    if (!list)
      return;
    if (!list->is_array())
      return fail(pathOf(key), "expected a list");
    for (size_t i = 0; i < list->size(); ++i)
      function((*list)[i], fmt::format("{}[{}]", pathOf(key), i));
  }

private:
  const Json &object;
  std::string path;
  std::optional<Error> &error;
};

} // namespace tile::runtime
