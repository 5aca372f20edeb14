// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formatter's view of a file: logical lines of tokens and comments.
#pragma once

#include "Frontend/Syntax/Lexer.h"

namespace tile::format {

/// A token or a comment of a logical line.
struct Element {
  bool isComment = false;
  frontend::Tok kind = frontend::Tok::End; // for tokens only
  std::string_view text;
  unsigned lineEnds = 0; // line ends before it in the source
  uint32_t column = 0;   // for comments: column in the source, in bytes
};

/// A statement, several statements separated by ';', or a comment on a separate line.
struct LogicalLine {
  enum class Kind : uint8_t { Comment, Decorator, Definition, Other };

  Kind kind = Kind::Other;
  std::vector<Element> elements;
  unsigned depth = 0;      // number of enclosing blocks
  unsigned blankLines = 0; // blank lines before it in the source
};

/// Reads the logical lines. The text must have no errors except those that isHarmless accepts.
std::vector<LogicalLine> readLines(std::string_view text, const frontend::TokenStream &stream);

/// Returns true if the token is an error only for the parser, and the formatter can still tell where the token begins
/// and ends.
bool isHarmless(const frontend::Token &token);

} // namespace tile::format
