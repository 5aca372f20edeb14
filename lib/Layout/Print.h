// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textual forms of a layout.
//
//   toString / parse (the IR form):  [2, 64], register = [[0, 1]], lane = [[0, 2], …], warp = [[1, 0]]
//   printTable (for readers):        one cell for each element, with its owner ("warp:lane:register") or its offset
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

std::string toString(const LinearLayout &layout);

/// Parses the IR form. If the text is malformed or not a valid layout, returns nullopt and sets `error` to a message
/// that contains the byte position.
std::optional<LinearLayout> parse(std::string_view text, std::string *error);

/// Prints one table or, for rank 3 and higher, one table for each slice of the leading dimensions. Tables are truncated
/// to maxRows x maxColumns cells. For a distributed layout, a cell shows the lowest owner, and `+n` if there are n
/// further copies.
std::string printTable(const LinearLayout &layout, int64_t maxRows = 64, int64_t maxColumns = 32);

} // namespace tile::layout
