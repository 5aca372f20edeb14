// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists and dictionaries as immutable values: a change creates a new value. Lists are represented as tuples.

#pragma once

#include "Frontend/Values/SymValue.h"

namespace tile::frontend {

/// Returns the value as an integer (nullopt if it is not a compile-time integer), or as a string (null if it is not a
/// string).
std::optional<Int128> integerOf(const SymValue &value);
const std::string *textOf(const SymValue &value);

/// Returns the index of an element, counted from the end if it is negative; nullopt if it is out of bounds.
std::optional<size_t> indexIn(const SymValue &list, const SymValue &index);

/// Returns the value of a key; null if there is none.
const SymValue *findKey(const SymValue &dictionary, const SymValue &key);

/// Returns the items over which Python iterates: elements of a list, keys of a dictionary, characters of a string,
/// integers of a range; nullopt for other values, and for ranges with more than `most` integers.
std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value, size_t most = 65536);

/// Removes items that equal an earlier item (Python's set); keeps all unknown items.
SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items);

/// Returns the list or dictionary with one item replaced or, for a dictionary, added; nullopt if the result is unknown.
std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value);

/// Returns the dictionary with the entries of `other` added, which take precedence.
SymValue merged(SymValue dictionary, const SymValue &other);

/// Returns the dictionary that consists of the pairs, or an unknown value if a key is unknown.
SymValue dictionaryOf(const std::vector<SymValue> &pairs);

/// Sorts items by their keys, optionally in descending order. Returns false if the keys cannot be ordered.
bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDescending);

} // namespace tile::frontend
