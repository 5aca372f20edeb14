// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Methods of Python's own types, on constants: n.bit_length(), float.fromhex("0x1p-3"), ", ".join(names),
// text.replace(...).

#include "Frontend/Sema/ModuleSema.h"
#include "Frontend/Syntax/FormatSpec.h"
#include "Frontend/Syntax/Literals.h"

#include "llvm/ADT/StringExtras.h"

#include <bit>
#include <cmath>
#include <cstdlib>

using namespace mlir;

namespace tile::frontend {

namespace {

const std::string *textOf(const SymValue &value) {
  return value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
}

/// Returns the magnitude, of up to 127 bits.
unsigned __int128 magnitude(Int128 number) {
  return number < 0 ? -static_cast<unsigned __int128>(number) : static_cast<unsigned __int128>(number);
}

std::optional<SymValue> methodOfInteger(Int128 number, StringRef name) {
  unsigned __int128 bits = magnitude(number);
  auto high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  if (name == "bit_length")
    return SymValue::makeConstant(Int128(high ? 64 + std::bit_width(high) : std::bit_width(low)));
  if (name == "bit_count")
    return SymValue::makeConstant(Int128(std::popcount(high) + std::popcount(low)));
  return std::nullopt;
}

/// Parses "0x1.8p-3", with or without the "0x" and the exponent.
std::optional<double> fromHex(StringRef text) {
  text = text.trim();
  StringRef digits = text;
  bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  bool isNamed =
      digits.equals_insensitive("inf") || digits.equals_insensitive("infinity") || digits.equals_insensitive("nan");
  if (!isNamed && !digits.consume_front("0x"))
    digits.consume_front("0X");
  bool isHex =
      !digits.empty() && (isNamed || digits.find_first_not_of("0123456789abcdefABCDEF.pP+-") == StringRef::npos);
  if (!isHex)
    return std::nullopt;
  std::string spelled = (isNamed ? "" : "0x") + digits.str();
  char *end = nullptr;
  double number = std::strtod(spelled.c_str(), &end);
  if (end != spelled.c_str() + spelled.size() || (std::isinf(number) && !isNamed))
    return std::nullopt;
  return isNegative ? -number : number;
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

/// Evaluates "{} of {1:.2f} {unit}".format(...). `keywords` has the keyword of each argument, or "". Returns nullopt if
/// a field does not match.
std::optional<std::string> formatted(StringRef pattern, const std::vector<SymValue> &arguments,
                                     const std::vector<std::string> &keywords) {
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
    auto [place, format] = pattern.slice(i + 1, end).split(':');
    size_t index = llvm::find(keywords, place.str()) - keywords.begin();
    if (place.empty())
      index = next++;
    else if (index == keywords.size() && place.getAsInteger(10, index))
      return std::nullopt;
    if (index >= arguments.size() || !arguments[index].isConstant())
      return std::nullopt;
    const Value &value = arguments[index].constant;
    std::optional<std::string> piece = format.empty() ? str(value) : formatValue(value, format.str());
    if (!piece)
      return std::nullopt;
    out += *piece;
    i = end;
  }
  return out;
}

std::optional<SymValue> joined(StringRef separator, const SymValue &items) {
  std::string out;
  for (auto [index, item] : llvm::enumerate(items.elements)) {
    const std::string *text = textOf(item);
    if (!text)
      return std::nullopt;
    out += (index == 0 ? "" : separator.str()) + *text;
  }
  return SymValue::makeConstant(out);
}

SymValue split(StringRef text, const std::string *separator) {
  SmallVector<StringRef> parts;
  if (separator)
    text.split(parts, *separator);
  else
    llvm::SplitString(text, parts);
  std::vector<SymValue> out;
  for (StringRef part : parts)
    out.push_back(SymValue::makeConstant(part.str()));
  return SymValue::makeTuple(std::move(out));
}

std::optional<SymValue> methodOfText(StringRef text, StringRef name, const std::vector<SymValue> &arguments,
                                     const std::vector<std::string> &keywords) {
  const std::string *first = arguments.empty() ? nullptr : textOf(arguments[0]);
  const std::string *second = arguments.size() < 2 ? nullptr : textOf(arguments[1]);
  StringRef blanks = first ? StringRef(*first) : StringRef(" \t\n\v\f\r");
  bool isAscii = llvm::all_of(text, [](char c) { return llvm::isASCII(c); });
  if ((name == "upper" || name == "lower") && isAscii) // there is no case table for other letters
    return SymValue::makeConstant(name == "upper" ? text.upper() : text.lower());
  if (name == "strip")
    return SymValue::makeConstant(text.trim(blanks).str());
  if (name == "lstrip" || name == "rstrip")
    return SymValue::makeConstant((name == "lstrip" ? text.ltrim(blanks) : text.rtrim(blanks)).str());
  if (name == "format") {
    std::optional<std::string> out = formatted(text, arguments, keywords);
    return out ? std::optional(SymValue::makeConstant(*out)) : std::nullopt;
  }
  if (name == "join" && arguments.size() == 1 && arguments[0].isTuple())
    return joined(text, arguments[0]);
  if (name == "split" && (arguments.empty() || (first && !first->empty())))
    return split(text, first);
  if (name == "replace" && first && second)
    return SymValue::makeConstant(replaceAll(text, *first, *second));
  if (!first)
    return std::nullopt;
  if (name == "startswith" || name == "endswith")
    return SymValue::makeConstant(name == "startswith" ? text.starts_with(*first) : text.ends_with(*first));
  if (name == "find") {
    size_t place = text.find(*first);
    return SymValue::makeConstant(place == StringRef::npos ? Int128(-1)
                                                           : Int128(countCharacters(text.substr(0, place))));
  }
  if (name == "count") // an empty string occurs before and after each character
    return SymValue::makeConstant(Int128(first->empty() ? countCharacters(text) + 1 : text.count(*first)));
  return std::nullopt;
}

} // namespace

/// Evaluates "%d of %s" % (1, name); nullopt if the left operand is not a string.
std::optional<SymValue> ModuleSema::formatText(const SymValue &pattern, const SymValue &values, SourceRange range) {
  const std::string *text = textOf(pattern);
  if (!text || (!values.isTuple() && !values.isConstant()))
    return std::nullopt;
  std::vector<Value> constants;
  for (const SymValue &value : values.isTuple() ? values.elements : std::vector<SymValue>{values})
    constants.push_back(value.isConstant() ? value.constant : Value(printed(value)));
  std::optional<std::string> out = formatPercent(*text, constants);
  if (!out)
    return error(Diag::constant_expression, range, {describe(values) + " does not match the format " + repr(*text)});
  return limitSize(SymValue::makeConstant(*out), range);
}

/// Returns nullopt if there is no such method, or it does not take these arguments.
std::optional<SymValue> ModuleSema::methodOfConstant(const SymValue &receiver, const std::string &name,
                                                     const std::vector<std::string> &keywords,
                                                     const std::vector<SymValue> &arguments, SourceRange range) {
  std::optional<SymValue> result;
  const auto *type = std::get_if<TypeNameValue>(&receiver.constant);
  const std::string *argument = arguments.size() == 1 ? textOf(arguments[0]) : nullptr;
  if (type && type->name == "float" && name == "fromhex" && argument) {
    std::optional<double> number = fromHex(*argument);
    if (!number)
      return error(Diag::constant_expression, range, {"float.fromhex cannot read " + describe(arguments[0])});
    return SymValue::makeConstant(*number);
  }
  if (std::optional<Int128> number = asInteger(receiver.constant); number && arguments.empty())
    result = methodOfInteger(*number, name);
  if (const auto *real = std::get_if<double>(&receiver.constant); real && name == "is_integer" && arguments.empty())
    result = SymValue::makeConstant(std::isfinite(*real) && std::floor(*real) == *real);
  if (const std::string *text = textOf(receiver))
    result = methodOfText(*text, name, arguments, keywords);
  return result ? std::optional(limitSize(std::move(*result), range)) : std::nullopt;
}

} // namespace tile::frontend
