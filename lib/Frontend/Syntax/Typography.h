// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes characters that are easily mistaken for others, for messages of the lexer.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tile::frontend {

/// Returns the name of a typographic quotation mark, as word processors insert it, and the quotation mark to write
/// instead; empty strings for other characters.
std::pair<std::string_view, std::string_view> typographicQuote(std::string_view utf8);

/// Returns "a tab", "tabs", "spaces" or "tabs and spaces".
std::string describeBlanks(std::string_view blanks);

} // namespace tile::frontend
