// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for functions and methods of strings: ", ".join(names), text.replace(...), repr(x).

#include "Frontend/Syntax/Literals.h"
#include "Frontend/Values/Collections.h"
#include "Frontend/Values/FormatSpec.h"
#include "Frontend/Values/Python.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace tile::frontend {

namespace {

SymValue makeText(std::string text) {
  return SymValue::makeConstant(std::move(text));
}

StringRef selfOf(const PythonCall &call) {
  return *textOf(call[0]);
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string out;
  if (from.empty()) { // insert before and after each character
    for (std::string_view character : splitCharacters(text))
      (out += to) += character;
    return out += to;
  }
  for (size_t at; (at = text.find(from)) != StringRef::npos; text = text.substr(at + from.size())) {
    out += text.substr(0, at);
    out += to;
  }
  return out + text.str();
}

/// Evaluates "{} of {1:.2f} {unit}".format(...). Returns nullopt if a field does not match.
std::optional<std::string> formatted(StringRef pattern, const std::vector<SymValue> &values, const SymValue &names) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool isDoubled = i + 1 < pattern.size() && pattern[i] == pattern[i + 1];
    if ((pattern[i] == '{' || pattern[i] == '}') && isDoubled) {
      out += pattern[i++];
      continue;
    }
    if (pattern[i] != '{') {
      out += pattern[i];
      continue;
    }
    size_t end = pattern.find('}', i);
    if (end == StringRef::npos)
      return std::nullopt;
    auto [field, format] = pattern.slice(i + 1, end).split(':');
    const SymValue *value = findKey(names, makeText(field.str()));
    size_t index = field.empty() ? next++ : 0;
    if (!value && !field.empty() && field.getAsInteger(10, index))
      return std::nullopt;
    value = value ? value : index < values.size() ? &values[index] : nullptr;
    if (!value || !value->isConstant())
      return std::nullopt;
    std::optional<std::string> piece =
        format.empty() ? str(value->constant) : formatValue(value->constant, format.str());
    if (!piece)
      return std::nullopt;
    out += *piece;
    i = end;
  }
  return out;
}

/// Strips characters, by default blanks, from the left and the right end of a string.
std::optional<SymValue> stripped(const PythonCall &call, bool isLeft, bool isRight) {
  const std::string *given = textOf(call[1]);
  if (!given && !call[1].isNoneValue())
    return std::nullopt;
  StringRef characters = given ? StringRef(*given) : " \t\n\v\f\r", text = selfOf(call);
  text = isLeft ? text.ltrim(characters) : text;
  return makeText((isRight ? text.rtrim(characters) : text).str());
}

/// Converts a string to upper or lower case. Returns nullopt if it has non-ASCII characters, for which there is no case
/// table.
std::optional<SymValue> withCase(StringRef text, bool isUpper) {
  bool isAscii = llvm::all_of(text, [](char c) { return llvm::isASCII(c); });
  return isAscii ? std::optional(makeText(isUpper ? text.upper() : text.lower())) : std::nullopt;
}

} // namespace

std::optional<SymValue> pythonStr(const PythonCall &call) {
  return call[0].isConstant() ? std::optional(makeText(str(call[0].constant))) : std::nullopt;
}
std::optional<SymValue> pythonRepr(const PythonCall &call) {
  return call[0].isConstant() ? std::optional(makeText(repr(call[0].constant))) : std::nullopt;
}
/// At compile time, print() prints nothing.
std::optional<SymValue> pythonPrint(const PythonCall &) {
  return SymValue::makeConstant(NoneValue{});
}

std::optional<SymValue> pythonUpper(const PythonCall &call) {
  return withCase(selfOf(call), /*isUpper=*/true);
}
std::optional<SymValue> pythonLower(const PythonCall &call) {
  return withCase(selfOf(call), /*isUpper=*/false);
}
std::optional<SymValue> pythonStrip(const PythonCall &call) {
  return stripped(call, /*isLeft=*/true, /*isRight=*/true);
}
std::optional<SymValue> pythonLeftStrip(const PythonCall &call) {
  return stripped(call, /*isLeft=*/true, /*isRight=*/false);
}
std::optional<SymValue> pythonRightStrip(const PythonCall &call) {
  return stripped(call, /*isLeft=*/false, /*isRight=*/true);
}

std::optional<SymValue> pythonFormat(const PythonCall &call) {
  std::optional<std::string> out = formatted(selfOf(call), call[1].elements, call[2]);
  return out ? std::optional(makeText(*out)) : std::nullopt;
}

std::optional<SymValue> pythonJoin(const PythonCall &call) {
  std::optional<std::vector<SymValue>> items = itemsOfValue(call[1]);
  if (!items || !llvm::all_of(*items, [](const SymValue &item) { return textOf(item); }))
    return std::nullopt;
  return makeText(
      llvm::join(llvm::map_range(*items, [](const SymValue &item) { return *textOf(item); }), selfOf(call)));
}

std::optional<SymValue> pythonSplit(const PythonCall &call) {
  const std::string *separator = textOf(call[1]);
  if (separator ? separator->empty() : !call[1].isNoneValue())
    return std::nullopt;
  llvm::SmallVector<StringRef> parts;
  if (separator)
    selfOf(call).split(parts, *separator);
  else
    llvm::SplitString(selfOf(call), parts);
  SymValue out = SymValue::makeTuple({});
  for (StringRef part : parts)
    out.elements.push_back(makeText(part.str()));
  return out;
}

std::optional<SymValue> pythonReplace(const PythonCall &call) {
  const std::string *from = textOf(call[1]), *to = textOf(call[2]);
  return from && to ? std::optional(makeText(replaceAll(selfOf(call), *from, *to))) : std::nullopt;
}

std::optional<SymValue> pythonStartsWith(const PythonCall &call) {
  const std::string *prefix = textOf(call[1]);
  return prefix ? std::optional(SymValue::makeConstant(selfOf(call).starts_with(*prefix))) : std::nullopt;
}
std::optional<SymValue> pythonEndsWith(const PythonCall &call) {
  const std::string *suffix = textOf(call[1]);
  return suffix ? std::optional(SymValue::makeConstant(selfOf(call).ends_with(*suffix))) : std::nullopt;
}

std::optional<SymValue> pythonFind(const PythonCall &call) {
  const std::string *part = textOf(call[1]);
  size_t at = part ? selfOf(call).find(*part) : StringRef::npos;
  Int128 index = at == StringRef::npos ? Int128(-1) : Int128(countCharacters(selfOf(call).substr(0, at)));
  return part ? std::optional(SymValue::makeConstant(index)) : std::nullopt;
}

std::optional<SymValue> pythonCount(const PythonCall &call) {
  const std::string *part = textOf(call[1]);
  if (!part)
    return std::nullopt;
  // The empty string occurs before and after each character.
  return SymValue::makeConstant(Int128(part->empty() ? countCharacters(selfOf(call)) + 1 : selfOf(call).count(*part)));
}

} // namespace tile::frontend
