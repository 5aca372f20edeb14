// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts text to tokens, with Python's rules for indentation, line joining and literals.
//
// Blocks become Indent/Dedent tokens (a tab advances to the next multiple of 8 columns). Line ends inside brackets and
// after '\' are dropped, and so are comments, except directive lines "#: ...", which are collected separately. Any byte
// sequence is accepted: invalid tokens become Tok::Error, which the parser reports if it needs them.

#pragma once

#include "Frontend/Syntax/Token.h"

namespace tile::frontend {

/// One "#:" comment line; 'range' covers the text after "#:".
struct DirectiveLine {
  SourceRange range;
};

struct TokenStream {
  std::vector<Token> tokens; // ends with Tok::End
  std::vector<DirectiveLine> directives;
};

/// Lexes 'text' as a whole file.
TokenStream lexFile(std::string_view text, uint32_t file);

/// Lexes the bytes [range.begin, range.end) as one expression, as inside brackets, so line ends are blanks.
std::vector<Token> lexExpression(std::string_view text, SourceRange range);

} // namespace tile::frontend
