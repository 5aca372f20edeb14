// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists and dictionaries of code that runs at compile time. They are values: a change gives a new one, to the name that
// had the old one.
//
//   items.insert(0, x)      items = changedValue(items, "insert", {0, x})
//   table["a"] = x          table = withItem(table, "a", x)

#pragma once

#include "Frontend/Sema/SemaValue.h"

#include <optional>

namespace tile::frontend {

/// An integer known at compile time; nothing for other values.
std::optional<Int128> integerOf(const SymValue &value);

/// The value of the last key that equals this one; null if there is none.
const SymValue *findKey(const SymValue &dictionary, const SymValue &key);

/// The elements of a list, the keys of a dictionary, the characters of a text; nothing for other values.
std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value);

/// The items without those that equal an earlier one (Python's set); unknown ones all stay.
SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items);

/// What a list or dictionary is after the call of one of its methods; nothing where that is not known.
std::optional<SymValue> changedValue(SymValue value, llvm::StringRef method, llvm::ArrayRef<SymValue> arguments);

/// A list with another element, or a dictionary with another value; nothing where that is not known.
std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value);

/// A dictionary of keys with their values; an unknown value where a key is unknown.
SymValue dictionaryOf(const std::vector<SymValue> &entries);

/// Puts numbers in order, downwards if so wanted, by their keys; false where the keys are not numbers.
bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDown);

/// Rows of one element of each list, as many as the shortest has.
SymValue zipLists(const std::vector<SymValue> &lists);

/// Every choice of one element from each list, the last list changing first; nothing if one of them is not a list or
/// there are more than `most` choices.
std::optional<SymValue> productOfLists(llvm::ArrayRef<SymValue> lists, size_t most);

} // namespace tile::frontend
