// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A logical line as lines of text.
#pragma once

#include "Format/SourceLines.h"

namespace tile::format {

constexpr unsigned indentWidth = 4;
constexpr unsigned maxColumns = 120;

/// A line of the output, with the comment behind its code.
struct TextLine {
  std::string code;         // may span lines: a string in three quotes
  std::string_view comment; // may be empty
  uint32_t column = 0;      // of the comment, in the source
};

void layOut(const LogicalLine &line, std::vector<TextLine> &out);

/// In characters, of the last line.
unsigned widthOf(std::string_view text);

} // namespace tile::format
