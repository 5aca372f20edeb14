// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists and dictionaries of code that runs at compile time. They are values: a change creates a new one and rebinds the
// name.
//
//   items.insert(0, x)      items = changedValue(items, "insert", {0, x})
//   table["a"] = x          table = withItem(table, "a", x)

#pragma once

#include "Frontend/Sema/SemaValue.h"

#include <optional>

namespace tile::frontend {

/// Returns a compile-time integer; nullopt for other values.
std::optional<Int128> integerOf(const SymValue &value);

/// Returns the value of the last key that equals this one; null if there is none.
const SymValue *findKey(const SymValue &dictionary, const SymValue &key);

/// Returns the elements of a list, the keys of a dictionary, or the characters of a string; nullopt for other values.
std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value);

/// Removes items that equal an earlier one (Python's set); unknown items are all kept.
SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items);

/// Returns the list or dictionary after a method call; nullopt if it is unknown.
std::optional<SymValue> changedValue(SymValue value, llvm::StringRef method, llvm::ArrayRef<SymValue> arguments);

/// Returns a list or dictionary with one item replaced; nullopt if it is unknown.
std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value);

/// Returns a dictionary of keys with their values; an unknown value if a key is unknown.
SymValue dictionaryOf(const std::vector<SymValue> &entries);

/// Sorts by numeric keys, optionally in descending order. Returns false if the keys are not numbers.
bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDown);

/// Returns rows of one element from each list, as many as the shortest list has.
SymValue zipLists(const std::vector<SymValue> &lists);

/// Returns every choice of one element from each list, the last list varying fastest; nullopt if one of them is not a
/// list or there are more than `most` choices.
std::optional<SymValue> productOfLists(llvm::ArrayRef<SymValue> lists, size_t most);

} // namespace tile::frontend
