// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Inputs/FillText.h"
#include "Directives/ExpressionTree.h"
#include "Directives/Functions.h"
#include "Runner/Inputs/Arguments.h"

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
  const std::string name = text.substr(0, text.find('('));
  const directives::FillForm *form = directives::find(directives::fillings, name);
  FillText source;
  source.function = isList ? "list" : form ? name : "file";
  const directives::ParsedExpression parsed = directives::parseExpression(text);
  const ExpressionTree &tree = parsed.tree;
  if (source.function == "file") {
    if (!parsed || tree.kind != ExpressionTree::Kind::Call || !tree.isCall(name))
      return source;
    constexpr auto known = directives::namesOf(directives::fillings);
    return badFill("'{}' is not a fill function{}; for a file of this name, write ./{}", name,
                   suggestion(name, {known.begin(), known.end()}), text);
  }
  if (!parsed)
    return badFill("{}", parsed.error);
  if (isList && tree.kind == ExpressionTree::Kind::List) {
    flatten(tree, text, source.arguments);
    return source;
  }
  if (isList)
    return badFill("'{}' is malformed; expected a list of numbers", text);
  bool isForm = tree.isName() || tree.isCall(form->name);
  for (const ExpressionTree &argument : tree.operands) {
    const bool isOnly = argument.keyword.empty() && tree.operands.size() == 1 && form->takesPlainSeed();
    if (!isOnly && (argument.keyword != "seed" || !form->takesSeed)) {
      if (isForm && !argument.keyword.empty())
        return badFill("{} has no parameter '{}'; expected {}", form->name, argument.keyword, form->spelling);
      source.arguments.emplace_back(argument.textIn(text));
      continue;
    }
    Result<uint64_t> seed = parseSeed(argument.textIn(text));
    if (!seed)
      return seed.error();
    source.seed = *seed;
  }
  if (!isForm || !form->accepts(source.arguments.size()))
    return badFill("'{}' is malformed; expected {}", text, form->spelling);
  return source;
}

} // namespace tile::runner
