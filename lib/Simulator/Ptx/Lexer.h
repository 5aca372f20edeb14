// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits PTX text into tokens. Comments and blanks are skipped. Line ends have no meaning in PTX, but every token has
// its line number. PTX ISA 4.2 (comments), 4.4 (identifiers), 4.5 (constants).
#pragma once

#include "Runtime/Result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tile::sim {

enum class TokenKind : uint8_t {
  End,
  Name,       ///< ld, %r12, $L__BB0_1, tile_shared, _
  Directive,  ///< `text` lacks the dot: global, shared::cta, 2d
  Integer,    ///< its value is `bits`
  Float,      ///< its encoding is `bits`; `floatBits` is 32 for 0f…, and 64 for 0d… and decimal
  String,     ///< `text` is the string between the quotes, with escape sequences as written
  Punctuation ///< one character, or one of << >> <= >= == != && ||
};

struct Token {
  TokenKind kind = TokenKind::End;
  uint8_t floatBits = 0;
  bool isUnsigned = false; ///< an integer with the suffix U
  uint32_t line = 1;
  uint64_t bits = 0;
  std::string_view text;

  bool is(std::string_view punctuation) const { return kind == TokenKind::Punctuation && text == punctuation; }
};

/// Returns the tokens, followed by two End tokens for a look-ahead of one.
runtime::Result<std::vector<Token>> lexPtx(std::string_view text);

} // namespace tile::sim
