// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Values/Collections.h"

#include "Frontend/Syntax/Literals.h"

#include <algorithm>

namespace tile::frontend {

std::optional<Int128> integerOf(const SymValue &value) {
  return value.isConstant() ? asInteger(value.constant) : std::nullopt;
}

const std::string *textOf(const SymValue &value) {
  return value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
}

std::optional<size_t> indexIn(const SymValue &list, const SymValue &index) {
  std::optional<Int128> place = integerOf(index);
  auto size = static_cast<Int128>(list.elements.size());
  if (place && *place < 0)
    *place += size;
  return place && *place >= 0 && *place < size ? std::optional(static_cast<size_t>(*place)) : std::nullopt;
}

const SymValue *findKey(const SymValue &dictionary, const SymValue &key) {
  for (size_t i = 0; i < dictionary.elements.size(); i += 2)
    if (isEqual(dictionary.elements[i], key))
      return &dictionary.elements[i + 1];
  return nullptr;
}

static std::optional<std::vector<SymValue>> integersOf(const SymValue &range, size_t most) {
  std::optional<Int128> first = integerOf(range.elements[0]), end = integerOf(range.elements[1]),
                        step = integerOf(range.elements[2]);
  if (!first || !end || !step)
    return std::nullopt;
  std::vector<SymValue> integers;
  for (Int128 i = *first; *step > 0 ? i < *end : i > *end; i += *step) {
    if (integers.size() == most)
      return std::nullopt;
    integers.push_back(SymValue::makeConstant(i));
  }
  return integers;
}

std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value, size_t most) {
  if (value.isTuple())
    return value.elements;
  if (value.kind == SymValue::Kind::Range)
    return integersOf(value, most);
  std::vector<SymValue> items;
  if (const std::string *text = textOf(value)) {
    for (std::string_view character : splitCharacters(*text))
      items.push_back(SymValue::makeConstant(std::string(character)));
    return items;
  }
  if (!value.isDictionary())
    return std::nullopt;
  for (size_t i = 0; i < value.elements.size(); i += 2)
    items.push_back(value.elements[i]);
  return items;
}

SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items) {
  std::vector<SymValue> kept;
  for (const SymValue &item : items)
    if (item.isError() || llvm::none_of(kept, [&](const SymValue &other) { return isEqual(item, other); }))
      kept.push_back(item);
  return SymValue::makeTuple(std::move(kept));
}

std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value) {
  if (container.isDictionary()) {
    if (const SymValue *found = findKey(container, index))
      container.elements[static_cast<size_t>(found - container.elements.data())] = std::move(value);
    else
      container.elements.insert(container.elements.end(), {index, std::move(value)});
    return container;
  }
  bool isList = container.isTuple() && container.names.empty();
  std::optional<size_t> place = isList ? indexIn(container, index) : std::nullopt;
  if (!place)
    return std::nullopt;
  container.elements[*place] = std::move(value);
  return container;
}

SymValue merged(SymValue dictionary, const SymValue &other) {
  for (size_t i = 0; i < other.elements.size(); i += 2)
    dictionary = *withItem(std::move(dictionary), other.elements[i], other.elements[i + 1]);
  return dictionary;
}

SymValue dictionaryOf(const std::vector<SymValue> &pairs) {
  SymValue dictionary = SymValue::makeDictionary();
  for (const SymValue &pair : pairs) {
    if (pair.elements.size() != 2 || pair.elements[0].isError())
      return {};
    dictionary = *withItem(std::move(dictionary), pair.elements[0], pair.elements[1]);
  }
  return dictionary;
}

bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDescending) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  bool isOrdered = true;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    std::optional<bool> less = isDescending ? isLess(keys[b], keys[a]) : isLess(keys[a], keys[b]);
    isOrdered &= less.has_value();
    return less.value_or(false);
  });
  std::vector<SymValue> sorted;
  for (size_t index : order)
    sorted.push_back(items[index]);
  if (isOrdered)
    items = std::move(sorted);
  return isOrdered;
}

} // namespace tile::frontend
