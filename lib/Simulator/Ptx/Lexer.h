// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text → tokens. Comments and blanks are skipped; line ends mean nothing in PTX, but every token has its line. PTX
// ISA 4.2 (comments), 4.4 (identifiers), 4.5 (constants).
#pragma once

#include "Runtime/Result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tile::sim {

enum class TokenKind : uint8_t {
  End,
  Name,       ///< ld, %r12, $L__BB0_1, tile_shared, _
  Directive,  ///< `text` is without the dot: global, shared::cta, 2d
  Integer,    ///< `bits`
  Float,      ///< `bits`, `floatBits` of them: 0f…: 32; 0d… and decimal: 64
  String,     ///< `text` between the quotes, escapes not yet replaced
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

/// Ends with two End tokens, for a look-ahead of one.
runtime::Result<std::vector<Token>> lexPtx(std::string_view text);

} // namespace tile::sim
