// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens of the language. The spelling table is the single list of operators and keywords, used by the lexer and the
// parser's messages.

#pragma once

#include "Frontend/Syntax/Diagnostics.h"

namespace tile::frontend {

enum class Tok : uint8_t {
#define TILE_TOKEN(name, spelling) name,
#include "Frontend/Syntax/Tokens.def"
};

/// Returns the spelling of a token ("+=", "lambda"), or its kind ("newline", "name").
std::string_view spelling(Tok kind);

struct Token {
  Tok kind = Tok::End;
  SourceRange range;
  // The error of a Tok::Error. Only reported if the parser needs the token, so that skipped host code never causes
  // errors.
  Diag error = Diag::unexpected_token;
  std::vector<std::string> arguments = {};
};

} // namespace tile::frontend
