// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python functions that host programs use to create lists: filter, sorted, itertools.product, ...; see HostReader.h. As
// there, unknown values are not reported as errors.

#include "Frontend/Host/HostLists.h"
#include "Frontend/Host/HostReader.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

namespace {

enum class ListFunction {
  None,
  Config,
  Copy,
  List,
  Set,
  Sorted,
  Reversed,
  Filter,
  Map,
  Zip,
  Enumerate,
  Range,
  Sum,
  Any,
  All,
  Dict,
  Chain,
  ChainOf,
  Product,
};

ListFunction listFunction(StringRef name) {
  return llvm::StringSwitch<ListFunction>(name)
      .Case("Config", ListFunction::Config)
      .Cases({"copy", "deepcopy"}, ListFunction::Copy)
      .Cases({"list", "tuple"}, ListFunction::List)
      .Case("set", ListFunction::Set)
      .Case("sorted", ListFunction::Sorted)
      .Case("reversed", ListFunction::Reversed)
      .Case("filter", ListFunction::Filter)
      .Case("map", ListFunction::Map)
      .Case("zip", ListFunction::Zip)
      .Case("enumerate", ListFunction::Enumerate)
      .Case("range", ListFunction::Range)
      .Case("sum", ListFunction::Sum)
      .Case("any", ListFunction::Any)
      .Case("all", ListFunction::All)
      .Case("dict", ListFunction::Dict)
      .Case("chain", ListFunction::Chain)
      .Case("from_iterable", ListFunction::ChainOf)
      .Case("product", ListFunction::Product)
      .Default(ListFunction::None);
}

SymValue chain(const std::vector<SymValue> &lists) {
  std::vector<SymValue> all;
  for (const SymValue &list : lists)
    list.isTuple() ? (void)llvm::append_range(all, list.elements) : all.push_back({});
  return SymValue::makeTuple(std::move(all));
}

/// Returns a range; unknown if it has more than 'most' elements.
SymValue range(const std::vector<SymValue> &arguments, size_t most) {
  Int128 bounds[3] = {0, 0, 1};
  for (auto [place, argument] : llvm::enumerate(arguments)) {
    std::optional<Int128> number = integerOf(argument);
    if (!number || place > 2)
      return {};
    bounds[arguments.size() == 1 ? 1 : place] = *number;
  }
  auto [first, end, step] = bounds;
  std::vector<SymValue> numbers;
  for (Int128 i = first; step != 0 && (step > 0 ? i < end : i > end); i += step) {
    if (numbers.size() == most)
      return {};
    numbers.push_back(SymValue::makeConstant(i));
  }
  return step == 0 || arguments.empty() ? SymValue() : SymValue::makeTuple(std::move(numbers));
}

/// Evaluates any and all: one element may determine the result in spite of unknown ones.
SymValue anyOrAll(bool isAny, const std::vector<std::optional<bool>> &truths) {
  if (llvm::is_contained(truths, std::optional(isAny)))
    return SymValue::makeConstant(isAny);
  return llvm::is_contained(truths, std::nullopt) ? SymValue() : SymValue::makeConstant(!isAny);
}

} // namespace

/// Evaluates filter and map.
SymValue HostReader::applyToItems(bool isFilter, const std::vector<BoundArgument> &arguments, SourceRange range) {
  std::optional<std::vector<SymValue>> items = arguments.size() == 2 ? itemsOfValue(arguments[1].value) : std::nullopt;
  if (!items)
    return {};
  std::vector<SymValue> results;
  for (const SymValue &item : *items) {
    if (!sema.charge(1, range))
      break;
    size_t reported = sema.diagnostics.all().size();
    SymValue result = call(arguments[0].value, {item}, range);
    if (!isFilter) {
      results.push_back(std::move(result));
      continue;
    }
    std::optional<bool> holds = sema.constantTruth(result);
    if (!holds)
      note(Diag::unknown_condition, arguments[0].range, reported);
    unsigned before = std::exchange(openDecisions, openDecisions + (holds ? 0 : 1));
    if (holds.value_or(true)) {
      results.push_back(item);
      markConditional(results.back());
    }
    openDecisions = before;
  }
  return SymValue::makeTuple(std::move(results));
}

SymValue HostReader::sortItems(std::vector<SymValue> items, const std::vector<BoundArgument> &arguments,
                               SourceRange range) {
  std::vector<SymValue> keys = items;
  bool isDown = false;
  for (const BoundArgument &argument : arguments) {
    if (argument.name == "reverse")
      isDown = sema.constantTruth(argument.value).value_or(false);
    if (argument.name == "key")
      for (SymValue &key : keys)
        key = call(argument.value, {key}, range);
  }
  sortByKeys(items, keys, isDown); // if the keys are not numbers, the order is unknown and kept
  return SymValue::makeTuple(std::move(items));
}

SymValue HostReader::sumItems(const std::vector<SymValue> &items, SymValue sum, SourceRange range) {
  for (const SymValue &item : items) {
    if (!sema.charge(1, range))
      return {};
    sum = sema.limitSize(binary(BinaryOp::Add, sum, item, range), range);
  }
  return sum;
}

/// Returns nullopt for calls that are evaluated as usual: host functions, methods, and functions of the language.
std::optional<SymValue> HostReader::callOfList(const CallExpr &call) {
  const auto *name = as<NameExpr>(call.callee);
  const auto *member = as<AttributeExpr>(call.callee);
  ListFunction function = listFunction(name ? name->id : member ? member->attribute : std::string());
  if (function == ListFunction::None)
    return std::nullopt;
  // The file may redefine the name.
  if (name && (sema.scope.contains(name->id) || sema.hostFunction(name->id)))
    return std::nullopt;
  size_t reported = sema.diagnostics.all().size();
  std::vector<BoundArgument> arguments;
  sema.evaluateArguments(call, arguments);
  if (member && member->attribute == "copy" && call.arguments.empty())
    return sema.evaluate(*member->value);
  if (function == ListFunction::Config)
    return makeConfiguration(arguments, call.range, reported);
  return callListFunction(name ? name->id : member->attribute, arguments, call.range);
}

SymValue HostReader::callListFunction(StringRef name, const std::vector<BoundArgument> &arguments, SourceRange range) {
  ListFunction function = listFunction(name);
  std::vector<SymValue> values;
  Int128 repeat = 1;
  for (const BoundArgument &argument : arguments) {
    if (argument.name.empty())
      values.push_back(argument.value);
    else if (argument.name == "repeat")
      repeat = integerOf(argument.value).value_or(0);
  }
  SymValue first = values.empty() ? SymValue::makeTuple({}) : values.front();
  std::optional<std::vector<SymValue>> items = itemsOfValue(first);
  switch (function) {
  case ListFunction::Filter:
  case ListFunction::Map:
    return applyToItems(function == ListFunction::Filter, arguments, range);
  case ListFunction::Range:
    return frontend::range(values, mostElements);
  case ListFunction::Zip:
    return llvm::all_of(values, [](const SymValue &list) { return list.isTuple(); }) ? zipLists(values) : SymValue();
  case ListFunction::Chain:
    return chain(values);
  case ListFunction::Copy:
    return first;
  case ListFunction::Dict: {
    SymValue dictionary;
    dictionary.kind = SymValue::Kind::Dictionary;
    if (first.kind == SymValue::Kind::Dictionary)
      dictionary.elements = first.elements;
    for (const SymValue &pair : first.isTuple() ? first.elements : std::vector<SymValue>())
      if (pair.elements.size() == 2)
        llvm::append_range(dictionary.elements, pair.elements);
    for (const BoundArgument &argument : arguments)
      if (!argument.name.empty())
        dictionary.elements.insert(dictionary.elements.end(), {SymValue::makeConstant(argument.name), argument.value});
    return first.isError() ? SymValue() : dictionary;
  }
  case ListFunction::Product: {
    std::vector<SymValue> lists;
    constexpr Int128 mostLists = 16;
    for (Int128 i = 0; i < std::min(repeat, mostLists); ++i)
      llvm::append_range(lists, values);
    if (repeat < 1 || repeat > mostLists)
      return {};
    return productOfLists(lists, mostElements / std::max<size_t>(1, lists.size())).value_or(SymValue());
  }
  default:
    break;
  }
  if (!items)
    return {};
  switch (function) {
  case ListFunction::Set:
    return withoutRepetitions(*items);
  case ListFunction::Sorted:
    return sortItems(std::move(*items), arguments, range);
  case ListFunction::Reversed:
    std::reverse(items->begin(), items->end());
    return SymValue::makeTuple(std::move(*items));
  case ListFunction::Enumerate: {
    std::optional<Int128> start = values.size() > 1 ? integerOf(values[1]) : Int128(0);
    for (auto [place, item] : llvm::enumerate(*items))
      item =
          SymValue::makeTuple({start ? SymValue::makeConstant(*start + static_cast<Int128>(place)) : SymValue(), item});
    return SymValue::makeTuple(std::move(*items));
  }
  case ListFunction::Sum:
    return sumItems(*items, values.size() > 1 ? values[1] : SymValue::makeConstant(Int128(0)), range);
  case ListFunction::Any:
  case ListFunction::All: {
    std::vector<std::optional<bool>> truths;
    for (const SymValue &item : *items)
      truths.push_back(sema.constantTruth(item));
    return anyOrAll(function == ListFunction::Any, truths);
  }
  case ListFunction::ChainOf:
    return chain(*items);
  default: // list and tuple
    return SymValue::makeTuple(std::move(*items));
  }
}

} // namespace tile::frontend
