// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Inputs/FillText.h"
#include "Directives/ExpressionTree.h"
#include "Directives/Functions.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tile::runner {

using directives::ExpressionTree;
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

/// Collects the elements of a list, in row-major order of nested lists.
void flatten(const ExpressionTree &list, std::string_view text, std::vector<std::string> &elements) {
  for (const ExpressionTree &element : list.operands)
    if (element.kind == ExpressionTree::Kind::List)
      flatten(element, text, elements);
    else
      elements.emplace_back(element.textIn(text));
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
  const bool isList = text.starts_with('[');
  const auto *form = std::find_if(std::begin(forms), std::end(forms),
                                  [&](const Form &known) { return known.name == text.substr(0, text.find('(')); });
  FillText source;
  source.function = isList ? "list" : form == std::end(forms) ? "file" : form->name;
  if (source.function == "file")
    return source;
  const directives::ParsedExpression parsed = directives::parseExpression(text);
  if (!parsed)
    return badFill("{}", parsed.error);
  const ExpressionTree &tree = parsed.tree;
  if (isList && tree.kind == ExpressionTree::Kind::List) {
    flatten(tree, text, source.arguments);
    return source;
  }
  if (isList)
    return badFill("'{}' is malformed; expected a list of numbers", text);
  const bool isRandom = form->name == "random" || form->name == "special" || form->name == "denormals",
             takesSeed = isRandom || form->name == "randint" || form->name == "uniform";
  bool isForm = tree.isName() || tree.isCall(form->name);
  for (const ExpressionTree &argument : tree.operands) {
    // random(3) is random(seed=3)
    const bool isSeed = takesSeed && (argument.keyword == "seed" || (isRandom && tree.operands.size() == 1));
    if (!isSeed) {
      isForm &= argument.keyword.empty();
      source.arguments.emplace_back(argument.textIn(text));
      continue;
    }
    Result<uint64_t> seed = parseSeed(argument.textIn(text));
    if (!seed)
      return seed.error();
    source.seed = *seed;
  }
  if (!isForm || source.arguments.size() < form->fewest || source.arguments.size() > form->most)
    return badFill("'{}' is malformed; expected {}", text, form->spelling);
  return source;
}

} // namespace tile::runner
