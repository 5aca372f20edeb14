// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for functions that iterate over lists, dictionaries, strings and ranges.

#include "Frontend/Values/Collections.h"
#include "Frontend/Values/Python.h"

#include <algorithm>

namespace tile::frontend {

namespace {

using Items = std::vector<SymValue>;

/// Returns the results of the function `key` for the items, or the items themselves if there is no `key`.
Items keysOf(const PythonCall &call, const Items &items, const SymValue &key) {
  Items keys = items;
  if (!key.isNoneValue())
    for (SymValue &item : keys)
      item = call.context.callValue(key, {item}, call.range);
  return keys;
}

/// Evaluates min or max of several values, or of the items of one value.
std::optional<SymValue> extremum(const PythonCall &call, CompareOp op) {
  const Items &given = call[0].elements;
  std::optional<Items> items = given.size() == 1 ? itemsOfValue(given.front()) : std::optional(given);
  if (!items || items->empty() || call.arguments[1].given)
    return std::nullopt;
  Items keys = keysOf(call, *items, call[4]);
  size_t best = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].isConstant() && keys[best].isConstant())
      if (EvalResult failed = evaluate(op, keys[i].constant, keys[best].constant); !failed.value)
        return call.result(failed);
    std::optional<bool> isBetter = op == CompareOp::Lt ? isLess(keys[i], keys[best]) : isLess(keys[best], keys[i]);
    if (!isBetter)
      return std::nullopt;
    best = *isBetter ? i : best;
  }
  return (*items)[best];
}

/// Evaluates any and all. One element may determine the result even if others are unknown.
std::optional<SymValue> anyOrAll(const PythonCall &call, bool isAny) {
  std::optional<Items> items = itemsOfValue(call[0]);
  bool isKnown = items.has_value();
  for (const SymValue &item : items.value_or(Items())) {
    std::optional<bool> holds = truthOf(item);
    if (holds == isAny)
      return SymValue::makeConstant(isAny);
    isKnown &= holds.has_value();
  }
  return isKnown ? std::optional(SymValue::makeConstant(!isAny)) : std::nullopt;
}

/// Returns the items of each value; nullopt if one of the values cannot be iterated over.
std::optional<std::vector<Items>> itemsOfEach(llvm::ArrayRef<SymValue> values) {
  std::vector<Items> lists;
  for (const SymValue &value : values) {
    std::optional<Items> items = itemsOfValue(value);
    if (!items)
      return std::nullopt;
    lists.push_back(std::move(*items));
  }
  return lists;
}

/// Returns rows with one item from each list; there are as many rows as the shortest list has items.
Items zipped(const std::vector<Items> &lists) {
  Items rows;
  size_t count = lists.empty() ? 0 : lists.front().size();
  for (const Items &list : lists)
    count = std::min(count, list.size());
  for (size_t i = 0; i < count; ++i) {
    SymValue &row = rows.emplace_back(SymValue::makeTuple({}));
    for (const Items &list : lists)
      row.elements.push_back(list[i]);
  }
  return rows;
}

/// Concatenates lists; an unknown list gives one unknown item.
std::optional<SymValue> chained(llvm::ArrayRef<SymValue> lists) {
  Items all;
  for (const SymValue &list : lists) {
    std::optional<Items> items = list.isError() ? Items{SymValue()} : itemsOfValue(list);
    if (!items)
      return std::nullopt;
    llvm::append_range(all, *items);
  }
  return SymValue::makeTuple(std::move(all));
}

} // namespace

std::optional<SymValue> pythonMin(const PythonCall &call) {
  return extremum(call, CompareOp::Lt);
}
std::optional<SymValue> pythonMax(const PythonCall &call) {
  return extremum(call, CompareOp::Gt);
}
std::optional<SymValue> pythonAny(const PythonCall &call) {
  return anyOrAll(call, /*isAny=*/true);
}
std::optional<SymValue> pythonAll(const PythonCall &call) {
  return anyOrAll(call, /*isAny=*/false);
}

std::optional<SymValue> pythonLen(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  return items ? std::optional(SymValue::makeConstant(Int128(items->size()))) : std::nullopt;
}

/// Evaluates list() and tuple(); a named tuple keeps its names.
std::optional<SymValue> pythonList(const PythonCall &call) {
  std::optional<Items> items = call[0].isTuple() ? std::nullopt : itemsOfValue(call[0]);
  if (!items)
    return call[0].isTuple() ? std::optional(call[0]) : std::nullopt;
  return SymValue::makeTuple(std::move(*items));
}

/// Combines a start value and the items with an operator.
static std::optional<SymValue> combined(const PythonCall &call, BinaryOp op) {
  std::optional<Items> items = itemsOfValue(call[0]);
  if (!items)
    return std::nullopt;
  SymValue result = call[1];
  for (const SymValue &item : *items)
    result = call.context.applyBinary(op, result, item, call.range);
  return result;
}

std::optional<SymValue> pythonSum(const PythonCall &call) {
  return combined(call, BinaryOp::Add);
}
std::optional<SymValue> pythonProd(const PythonCall &call) {
  return combined(call, BinaryOp::Mult);
}

/// Evaluates accumulate(): returns the running sums of the items, or the running results of another function.
std::optional<SymValue> pythonAccumulate(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  if (!items)
    return std::nullopt;
  for (size_t i = 1; i < items->size(); ++i) {
    const SymValue &before = (*items)[i - 1], &item = (*items)[i];
    (*items)[i] = call[1].isNoneValue() ? call.context.applyBinary(BinaryOp::Add, before, item, call.range)
                                        : call.context.callValue(call[1], {before, item}, call.range);
  }
  return SymValue::makeTuple(std::move(*items));
}

std::optional<SymValue> pythonReduce(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[1]);
  if (!items || call[2].elements.size() > 1)
    return std::nullopt;
  items->insert(items->begin(), call[2].elements.begin(), call[2].elements.end());
  if (items->empty())
    return std::nullopt;
  SymValue result = items->front();
  for (const SymValue &item : llvm::drop_begin(*items))
    result = call.context.callValue(call[0], {result, item}, call.range);
  return result;
}

std::optional<SymValue> pythonSorted(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  if (!items)
    return std::nullopt;
  Items keys = keysOf(call, *items, call[1]);
  bool isSorted = sortByKeys(*items, keys, truthOf(call[2]).value_or(false));
  // If keys are unknown, so is the order.
  bool isUnknown = llvm::any_of(keys, [](const SymValue &key) { return key.isError(); });
  return isSorted || isUnknown ? std::optional(SymValue::makeTuple(std::move(*items))) : std::nullopt;
}

std::optional<SymValue> pythonReversed(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  if (items)
    std::reverse(items->begin(), items->end());
  return items ? std::optional(SymValue::makeTuple(std::move(*items))) : std::nullopt;
}

std::optional<SymValue> pythonEnumerate(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  std::optional<Int128> index = integerOf(call[1]);
  if (!items || !index)
    return std::nullopt;
  for (SymValue &item : *items)
    item = SymValue::makeTuple({SymValue::makeConstant((*index)++), item});
  return SymValue::makeTuple(std::move(*items));
}

std::optional<SymValue> pythonZip(const PythonCall &call) {
  std::optional<std::vector<Items>> lists = itemsOfEach(call[0].elements);
  return lists ? std::optional(SymValue::makeTuple(zipped(*lists))) : std::nullopt;
}

std::optional<SymValue> pythonMap(const PythonCall &call) {
  std::optional<std::vector<Items>> lists = itemsOfEach(call[1].elements);
  if (!lists)
    return std::nullopt;
  Items rows = zipped(*lists);
  for (SymValue &row : rows)
    row = call.context.callValue(call[0], row.elements, call.range);
  return SymValue::makeTuple(std::move(rows));
}

std::optional<SymValue> pythonFilter(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[1]);
  if (!items)
    return std::nullopt;
  Items kept;
  for (SymValue &item : *items) {
    std::optional<bool> keeps =
        call[0].isNoneValue() ? truthOf(item) : call.context.callCondition(call[0], item, call.range);
    if (!keeps)
      return std::nullopt;
    if (*keeps)
      kept.push_back(item);
  }
  return SymValue::makeTuple(std::move(kept));
}

std::optional<SymValue> pythonSet(const PythonCall &call) {
  std::optional<Items> items = itemsOfValue(call[0]);
  return items ? std::optional(withoutRepetitions(*items)) : std::nullopt;
}

std::optional<SymValue> pythonChain(const PythonCall &call) {
  return chained(call[0].elements);
}
std::optional<SymValue> pythonChainOf(const PythonCall &call) {
  std::optional<Items> lists = itemsOfValue(call[0]);
  return lists ? chained(*lists) : std::nullopt;
}

/// Evaluates product(): returns every choice of one item from each list. The last list varies fastest.
std::optional<SymValue> pythonProduct(const PythonCall &call) {
  std::optional<std::vector<Items>> lists = itemsOfEach(call[0].elements);
  std::optional<Int128> repeat = integerOf(call[1]);
  constexpr Int128 mostLists = 16;
  Int128 count = lists && repeat ? *repeat * static_cast<Int128>(lists->size()) : -1;
  if (count < 0 || count > mostLists)
    return std::nullopt;
  Items choices{SymValue::makeTuple({})};
  for (Int128 i = 0; i < *repeat; ++i)
    for (const Items &list : *lists) {
      if (choices.size() * list.size() * static_cast<size_t>(count) > PythonContext::mostElements)
        return std::nullopt;
      Items longer;
      for (const SymValue &choice : choices)
        for (const SymValue &item : list)
          longer.emplace_back(choice).elements.push_back(item);
      choices = std::move(longer);
    }
  return SymValue::makeTuple(std::move(choices));
}

std::optional<SymValue> pythonCopy(const PythonCall &call) {
  return call[0];
}

} // namespace tile::frontend
