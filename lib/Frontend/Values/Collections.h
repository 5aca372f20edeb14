// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists and dictionaries as values: a change creates a new one. Lists are tuples.

#pragma once

#include "Frontend/Values/SymValue.h"

namespace tile::frontend {

/// Returns a compile-time integer, or text; nullopt or null for other values.
std::optional<Int128> integerOf(const SymValue &value);
const std::string *textOf(const SymValue &value);

/// Returns the index of an element, counted from the end if it is negative; nullopt if it is out of bounds.
std::optional<size_t> indexIn(const SymValue &list, const SymValue &index);

/// Returns the value of a key; null if there is none.
const SymValue *findKey(const SymValue &dictionary, const SymValue &key);

/// Returns what Python iterates over: elements of a list, keys of a dictionary, characters of a text, integers of a
/// range; nullopt for other values, and for ranges with more than `most` integers.
std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value, size_t most = 65536);

/// Removes items that equal an earlier one (Python's set); unknown items are all kept.
SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items);

/// Returns a list or dictionary with one item replaced, or the entry added; nullopt if it is unknown.
std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value);

/// Adds the entries of another dictionary, which take precedence.
SymValue merged(SymValue dictionary, const SymValue &other);

/// Returns a dictionary of pairs; an unknown value if a key is unknown.
SymValue dictionaryOf(const std::vector<SymValue> &pairs);

/// Sorts by keys, optionally in descending order. Returns false if the keys have no order.
bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDescending);

} // namespace tile::frontend
