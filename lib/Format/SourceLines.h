// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file as the formatter sees it: logical lines, each of tokens and of the comments among them.
#pragma once

#include "Frontend/Syntax/Lexer.h"

namespace tile::format {

/// A token or a comment of a logical line.
struct Element {
  bool isComment = false;
  frontend::Tok kind = frontend::Tok::End; // of a token
  std::string_view text;
  unsigned lineEnds = 0; // before it, in the source
  uint32_t column = 0;   // of a comment in the source, in bytes
};

/// A statement, or several with ';' between them; or a comment that stands alone.
struct LogicalLine {
  enum class Kind : uint8_t { Comment, Decorator, Definition, Other };

  Kind kind = Kind::Other;
  std::vector<Element> elements;
  unsigned depth = 0;      // of blocks around it
  unsigned blankLines = 0; // before it, in the source
};

/// The text must have no errors but those of `isHarmless`.
std::vector<LogicalLine> readLines(std::string_view text, const frontend::TokenStream &stream);

/// Whether the token is an error for the parser alone, and as clear as any other where it begins and ends.
bool isHarmless(const frontend::Token &token);

} // namespace tile::format
