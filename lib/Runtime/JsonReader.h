// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading JSON that others wrote: wrong types and missing members are errors that name their place.
#pragma once

#include "Runtime/Result.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace tile::runtime {

using Json = nlohmann::ordered_json;

/// Discarded if it is not valid, or nests deeper than anything that is read here: values are copied by recursion.
inline Json parseJson(std::string_view text) {
  constexpr int deepest = 32;
  bool isTooDeep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json &) {
    isTooDeep |= depth > deepest;
    return !isTooDeep;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  return isTooDeep ? Json(Json::value_t::discarded) : json;
}

/// Reads typed members of one JSON object and remembers the first error, so that a reader is a plain list of fields.
/// The error names the member's path; the caller puts in front what the text is.
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
    if (value && value->is_number_integer() &&
        !(value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
      return value->get<int64_t>();
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

  /// A list of expressions; plain integers are accepted as their own text.
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
      if (!element.is_number_integer()) {
        fail(pathOf(key), "expected a list of integers");
        return result;
      }
      result.push_back(element.get<int64_t>());
    }
    return result;
  }

  /// Calls function(element, path) for each element of a list, which may be absent.
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
