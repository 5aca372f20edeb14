// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime/Order.h"

#include <algorithm>
#include <fmt/core.h>

namespace tile::runtime {
namespace {

/// Returns the first element of `list` that `other` lacks; null if there is none.
const std::string *firstMissing(const std::vector<std::string> &list, const std::vector<std::string> &other) {
  for (const std::string &text : list)
    if (std::find(other.begin(), other.end(), text) == other.end())
      return &text;
  return nullptr;
}

} // namespace

std::string explainDifference(const Order &first, const Order &second) {
  for (const auto &[order, name] : {std::pair(&first, "first"), std::pair(&second, "second")}) {
    if (!order->isRecorded())
      return fmt::format("the {} records no order", name);
    if (order->value.empty())
      return fmt::format("the order of the {} is unknown: {}", name, order->unknown.front());
  }
  if (first.value == second.value)
    return {};
  if (first.program != second.program)
    return "the tile programs differ: the source, the block sizes or other constants";
  const std::string *mine = firstMissing(first.list, second.list), *theirs = firstMissing(second.list, first.list);
  if (mine && theirs)
    return fmt::format("'{}' is '{}' in the second", *mine, *theirs);
  if (mine || theirs)
    return fmt::format("only the {} has '{}'", mine ? "first" : "second", mine ? *mine : *theirs);
  if (first.steps != second.steps)
    return "the elements that a thread adds up differ";
  return "the floating-point instructions differ";
}

} // namespace tile::runtime
