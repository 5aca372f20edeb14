// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for dictionaries and lists, and for the methods that change them, whose rules return the changed object.

#include "Frontend/Values/Collections.h"
#include "Frontend/Values/Python.h"

#include <algorithm>

namespace tile::frontend {

namespace {

/// Adds the entries of dict(entries, **names) or update(entries, **names) to a dictionary; there is at most one
/// `entries`.
std::optional<SymValue> withEntries(SymValue dictionary, const SymValue &entries, const SymValue &names) {
  if (entries.elements.size() > 1)
    return std::nullopt;
  for (const SymValue &given : entries.elements) {
    std::optional<std::vector<SymValue>> pairs = given.isDictionary() ? std::nullopt : itemsOfValue(given);
    SymValue other = pairs ? dictionaryOf(*pairs) : given;
    if (!other.isDictionary())
      return std::nullopt;
    dictionary = merged(std::move(dictionary), other);
  }
  return merged(std::move(dictionary), names);
}

} // namespace

std::optional<SymValue> pythonDict(const PythonCall &call) {
  return withEntries(SymValue::makeDictionary(), call[0], call[1]);
}

std::optional<SymValue> pythonGet(const PythonCall &call) {
  const SymValue *value = findKey(call[0], call[1]);
  return value ? *value : call[2];
}

std::optional<SymValue> pythonValues(const PythonCall &call) {
  SymValue values = SymValue::makeTuple({});
  for (size_t i = 1; i < call[0].elements.size(); i += 2)
    values.elements.push_back(call[0].elements[i]);
  return values;
}

std::optional<SymValue> pythonItems(const PythonCall &call) {
  SymValue items = SymValue::makeTuple({});
  for (size_t i = 0; i < call[0].elements.size(); i += 2)
    items.elements.push_back(SymValue::makeTuple({call[0].elements[i], call[0].elements[i + 1]}));
  return items;
}

std::optional<SymValue> pythonIndexOfItem(const PythonCall &call) {
  for (auto [index, item] : llvm::enumerate(call[0].elements))
    if (isEqual(item, call[1]))
      return SymValue::makeConstant(Int128(index));
  return std::nullopt;
}

std::optional<SymValue> pythonCountOfItem(const PythonCall &call) {
  return SymValue::makeConstant(
      Int128(llvm::count_if(call[0].elements, [&](const SymValue &item) { return isEqual(item, call[1]); })));
}

std::optional<SymValue> changedByUpdate(const PythonCall &call) {
  return withEntries(call[0], call[1], call[2]);
}

std::optional<SymValue> changedBySetDefault(const PythonCall &call) {
  return findKey(call[0], call[1]) ? std::optional(call[0]) : withItem(call[0], call[1], call[2]);
}

std::optional<SymValue> changedByPopOfKey(const PythonCall &call) {
  SymValue changed = call[0];
  const SymValue *found = findKey(changed, call[1]);
  if (!found)
    return call[2].elements.size() == 1 ? std::optional(changed) : std::nullopt;
  auto value = changed.elements.begin() + (found - changed.elements.data());
  changed.elements.erase(value - 1, value + 1);
  return changed;
}

std::optional<SymValue> changedByClear(const PythonCall &call) {
  return SymValue::make(call[0].kind, {});
}

std::optional<SymValue> changedByAppend(const PythonCall &call) {
  SymValue changed = call[0];
  changed.elements.push_back(call[1]);
  return changed;
}

std::optional<SymValue> changedByExtend(const PythonCall &call) {
  SymValue changed = call[0];
  std::optional<std::vector<SymValue>> items =
      call[1].isError() ? std::vector<SymValue>{SymValue()}
                        : itemsOfValue(call[1]); // an unknown argument counts as one unknown item
  if (!items)
    return std::nullopt;
  llvm::append_range(changed.elements, *items);
  return changed;
}

std::optional<SymValue> changedByInsert(const PythonCall &call) {
  SymValue changed = call[0];
  std::optional<Int128> index = integerOf(call[1]);
  if (!index)
    return std::nullopt;
  auto size = static_cast<Int128>(changed.elements.size());
  *index = std::clamp<Int128>(*index < 0 ? *index + size : *index, 0, size);
  changed.elements.insert(changed.elements.begin() + static_cast<ptrdiff_t>(*index), call[2]);
  return changed;
}

std::optional<SymValue> changedByPop(const PythonCall &call) {
  SymValue changed = call[0];
  std::optional<size_t> index = indexIn(changed, call[1]);
  if (!index)
    return std::nullopt;
  changed.elements.erase(changed.elements.begin() + static_cast<ptrdiff_t>(*index));
  return changed;
}

std::optional<SymValue> changedByRemove(const PythonCall &call) {
  SymValue changed = call[0];
  auto found = llvm::find_if(changed.elements, [&](const SymValue &item) { return isEqual(item, call[1]); });
  if (found == changed.elements.end())
    return std::nullopt;
  changed.elements.erase(found);
  return changed;
}

} // namespace tile::frontend
