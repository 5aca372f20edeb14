// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of literal tokens.

#pragma once

#include "Frontend/Syntax/Ast.h"

#include <string_view>
#include <vector>

namespace tile::frontend {

/// Largest magnitude of an integer in the language: 2^127 - 1.
constexpr Int128 maxInt128 = static_cast<Int128>(~static_cast<unsigned __int128>(0) >> 1);

/// Returns the value of an integer literal (decimal, 0x, 0o, 0b, with '_'); nullopt if it needs more than 127 bits or
/// has an invalid digit.
std::optional<Int128> decodeInteger(std::string_view text);

/// Returns the value of a float literal; overflows to infinity as in Python.
double decodeFloat(std::string_view text);

struct StringPieces {
  bool isRaw = false;
  size_t bodyBegin = 0; // byte offsets within the token
  size_t bodyEnd = 0;
};

/// Splits a string token into prefix, quotes and body.
StringPieces splitString(std::string_view token);

/// Replaces the escapes in the body of a string; nullopt if an escape is malformed.
std::optional<std::string> decodeString(std::string_view body, bool isRaw);

/// Formats an integer in decimal.
std::string toString(Int128 value);

/// Splits a UTF-8 string into Python's characters, which are code points, or counts them.
std::vector<std::string_view> splitCharacters(std::string_view text);
size_t countCharacters(std::string_view text);

/// Returns Python's repr of a float or of a string.
std::string floatRepr(double value);
std::string stringRepr(std::string_view value);

} // namespace tile::frontend
