// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text forms of a layout.
//
//   toString / parse (the IR form):  [2, 64], register = [[0, 1]], lane = [[0, 2], …], warp = [[1, 0]]
//   printTable (for people):         one cell for each element, saying who holds it: "warp:lane:register" or the offset
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

std::string toString(const LinearLayout &layout);

/// Parses the IR form. Returns none and sets `error` to a message with the byte position if the text is malformed or
/// not a legal layout.
std::optional<LinearLayout> parse(std::string_view text, std::string *error);

/// Prints one table, or for rank 3 and more one for each slice of the leading dimensions. Tables are truncated to
/// maxRows x maxColumns cells. For a distributed layout a cell shows the lowest owner, and `+n` if there are n further
/// copies.
std::string printTable(const LinearLayout &layout, int64_t maxRows = 64, int64_t maxColumns = 32);

} // namespace tile::layout
