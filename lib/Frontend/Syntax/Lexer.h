// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text -> tokens, with Python's rules for indentation, line joining and literals.
//
// Blocks become Indent/Dedent tokens (a tab advances to the next multiple of 8 columns); line ends inside brackets and
// after '\' vanish. Comments vanish except directive lines "#: ...", which are collected on the side. Any byte sequence
// is accepted: what is not a token becomes Tok::Error, which the parser reports if it ever needs that token.

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

/// Lexes the bytes [range.begin, range.end) as one expression: as if inside brackets, so line ends are blank.
std::vector<Token> lexExpression(std::string_view text, SourceRange range);

} // namespace tile::frontend
