// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Inputs/FillText.h"
#include "Directives/Functions.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tile::runner {

using runtime::Error;
using runtime::makeError;
using runtime::Result;

namespace {

template <typename... Arguments> Error badFill(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

struct Form {
  std::string_view name;
  size_t fewest, most; ///< minimum and maximum number of arguments
  std::string_view spelling;
};

constexpr Form forms[] = {{"random", 0, 0, "random or random(seed=3)"},
                          {"uniform", 0, 2, "uniform or uniform(low, high)"},
                          {"special", 0, 0, "special or special(seed=3)"},
                          {"denormals", 0, 0, "denormals or denormals(seed=3)"},
                          {"zeros", 0, 0, "zeros"},
                          {"ones", 0, 0, "ones"},
                          {"full", 1, 1, "full(value)"},
                          {"arange", 0, 2, "arange, arange(first) or arange(first, step)"},
                          {"randint", 2, 2, "randint(low, high) or randint(low, high, seed=3)"},
                          {"permutation", 0, 1, "permutation or permutation(n)"},
                          {"offsets", 1, 1, "offsets(total) or offsets(lengths)"},
                          {"addresses", 1, 2, "addresses(buffer) or addresses(buffer, offsets)"},
                          {"peers", 1, 1, "peers(buffer)"}};
static_assert(directives::areListed(forms, directives::fillings));

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// Splits at commas that are not in brackets. Returns no parts for the empty string.
std::vector<std::string> splitArguments(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '['))
      ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']'))
      --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0))
      continue;
    parts.emplace_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (parts.back().empty()) // the string was "(1,)" or "()"
    parts.pop_back();
  return parts;
}

/// Collects the values of a list, which may contain lists, in row-major order.
void flatten(std::string_view text, std::vector<std::string> &elements) {
  for (const std::string &part : splitArguments(text))
    if (part.starts_with('[') && part.ends_with(']'))
      flatten(std::string_view(part).substr(1, part.size() - 2), elements);
    else
      elements.push_back(part);
}

Result<uint64_t> parseSeed(std::string_view text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    return badFill("the seed '{}' is not a non-negative integer", text);
  return seed;
}

} // namespace

Result<FillText> parseFill(const std::string &text) {
  FillText source;
  if (text.starts_with('[')) {
    if (!text.ends_with(']'))
      return badFill("'{}' is malformed; expected ']' at the end of the list", text);
    source.function = "list";
    flatten(std::string_view(text).substr(1, text.size() - 2), source.arguments);
    return source;
  }
  const size_t open = text.find('(');
  const auto *form = std::find_if(std::begin(forms), std::end(forms),
                                  [&](const Form &known) { return known.name == text.substr(0, open); });
  if (form == std::end(forms)) {
    source.function = "file";
    return source;
  }
  source.function = form->name;
  if (open != std::string::npos) {
    if (!text.ends_with(')'))
      return badFill("'{}' is malformed; expected {}", text, form->spelling);
    source.arguments = splitArguments(std::string_view(text).substr(open + 1, text.size() - open - 2));
  }
  const bool isRandom = form->name == "random" || form->name == "special" || form->name == "denormals",
             takesSeed = isRandom || form->name == "randint" || form->name == "uniform";
  const bool isNamed = !source.arguments.empty() && source.arguments.back().starts_with("seed=");
  if (takesSeed && (isNamed || (isRandom && source.arguments.size() == 1))) { // random(3) is random(seed=3)
    Result<uint64_t> seed = parseSeed(std::string_view(source.arguments.back()).substr(isNamed ? 5 : 0));
    if (!seed)
      return seed.error();
    source.seed = *seed;
    source.arguments.pop_back();
  }
  if (source.arguments.size() < form->fewest || source.arguments.size() > form->most)
    return badFill("'{}' is malformed; expected {}", text, form->spelling);
  return source;
}

} // namespace tile::runner
