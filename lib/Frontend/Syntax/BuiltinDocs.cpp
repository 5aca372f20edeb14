// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combines the tables of Builtins.def and BuiltinDocs.def.

#include "Frontend/Syntax/BuiltinDocs.h"

#include <algorithm>

namespace tile::frontend {

namespace {

enum Flags : unsigned { Plain, Method }; // as in Builtins.h

struct Function {
  std::string_view name, parameters;
  unsigned flags;
};
constexpr Function functions[] = {
#define TILE_BUILTIN(name, parameters, emitter, flags) {name, parameters, flags},
#include "Frontend/Syntax/Builtins.def"
#define TILE_PYTHON(name, parameters, rule, emitter) {name, parameters, Plain},
#include "Frontend/Syntax/PythonFunctions.def"
};

struct Text {
  std::string_view name, types, text; // a heading only has a name
};
constexpr Text texts[] = {
#define TILE_BUILTIN_GROUP(title) {title, {}, {}},
#define TILE_BUILTIN_DOC(name, types, text) {name, types, text},
#include "Frontend/Syntax/BuiltinDocs.def"
};

bool isHeading(const Text &text) {
  return text.text.empty();
}

/// Returns the entry of a name: an exact match or, if there is none, the family with the longest prefix.
const Text *findText(std::string_view name) {
  const Text *found = nullptr;
  for (const Text &entry : texts) {
    if (isHeading(entry))
      continue;
    if (entry.name == name)
      return &entry;
    bool isFamily = entry.name.ends_with('*') && name.starts_with(entry.name.substr(0, entry.name.size() - 1));
    if (isFamily && (!found || entry.name.size() > found->name.size()))
      found = &entry;
  }
  return found;
}

std::string spell(std::string_view name) {
  for (std::string_view hidden : {"builtins.", "host.", "types.", "changed."})
    if (name.starts_with(hidden))
      return std::string(name.substr(hidden.size()));
  return name.find('.') == std::string_view::npos ? "tl." + std::string(name) : std::string(name);
}

/// Formats a signature. The first parameter of a method of Python's objects and of descriptors is the object before the
/// dot.
std::string sign(const Function &function, const std::string &spelling) {
  std::string_view parameters = function.parameters;
  if (function.name.starts_with("desc.") || parameters.starts_with("self")) {
    size_t comma = parameters.find(", ");
    parameters = comma == std::string_view::npos ? "" : parameters.substr(comma + 2);
  }
  return spelling + "(" + std::string(parameters) + ")";
}

BuiltinDoc describe(const Function &function, std::string_view group, const Text &text) {
  std::string spelling = spell(function.name);
  std::string signature = sign(function, spelling);
  return {function.name, std::move(spelling), std::move(signature), (function.flags & Method) != 0, group, text.types,
          text.text};
}

std::vector<BuiltinDoc> makeDocs() {
  std::vector<const Text *> found;
  for (const Function &function : functions)
    found.push_back(findText(function.name));
  std::vector<BuiltinDoc> docs;
  // In a kernel, `print` is a different function than in the host program; show the one that is documented first.
  auto add = [&](const Function &function, std::string_view group, const Text &text) {
    BuiltinDoc doc = describe(function, group, text);
    if (std::none_of(docs.begin(), docs.end(), [&](const BuiltinDoc &other) { return other.spelling == doc.spelling; }))
      docs.push_back(std::move(doc));
  };
  std::string_view group;
  for (const Text &text : texts) {
    if (isHeading(text))
      group = text.name;
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] == &text)
        add(functions[i], group, text);
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      add(functions[i], "", {});
  return docs;
}

} // namespace

const std::vector<BuiltinDoc> &builtinDocs() {
  static const std::vector<BuiltinDoc> docs = makeDocs();
  return docs;
}

const BuiltinDoc *findBuiltinDoc(std::string_view name) {
  const std::vector<BuiltinDoc> &docs = builtinDocs();
  auto found = std::find_if(docs.begin(), docs.end(), [&](const BuiltinDoc &doc) { return doc.spelling == name; });
  if (found == docs.end())
    found = std::find_if(docs.begin(), docs.end(), [&](const BuiltinDoc &doc) { return doc.name == name; });
  return found == docs.end() ? nullptr : &*found;
}

std::vector<std::string_view> unusedBuiltinDocs() {
  std::vector<std::string_view> unused;
  for (const Text &text : texts) {
    bool isUsed = std::any_of(std::begin(functions), std::end(functions),
                              [&](const Function &function) { return findText(function.name) == &text; });
    if (!isHeading(text) && !isUsed)
      unused.push_back(text.name);
  }
  return unused;
}

} // namespace tile::frontend
