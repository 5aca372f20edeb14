// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens of the language. The spelling table is the single list of operators and keywords; the lexer and the messages
// of the parser both use it.

#pragma once

#include "Frontend/Syntax/Diagnostics.h"

namespace tile::frontend {

enum class Tok : uint8_t {
#define TILE_TOKEN(name, spelling) name,
#include "Frontend/Syntax/Tokens.def"
};

/// How the token is written ("+=", "lambda"), or what it is ("newline", "name").
std::string_view spelling(Tok kind);

struct Token {
  Tok kind = Tok::End;
  SourceRange range;
  // For Tok::Error: what is wrong. Reported only when the parser needs the token, so that host code that tilec skips
  // is never complained about.
  Diag error = Diag::unexpected_token;
  std::vector<std::string> arguments = {};
};

} // namespace tile::frontend
