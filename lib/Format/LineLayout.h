// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lays out a logical line as one or more lines of text.
#pragma once

#include "Format/SourceLines.h"

namespace tile::format {

constexpr unsigned indentWidth = 4;
constexpr unsigned maxColumns = 120;

/// A line of the output, with its trailing comment.
struct TextLine {
  std::string code;         // may contain newlines: a triple-quoted string
  std::string_view comment; // may be empty
  uint32_t column = 0;      // column of the comment in the source
};

void layOut(const LogicalLine &line, std::vector<TextLine> &out);

/// Returns the width of the last line in characters.
unsigned widthOf(std::string_view text);

} // namespace tile::format
