// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Characters that are easily taken for others, named in messages of the lexer.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tile::frontend {

/// Returns the name of a quotation mark that word processors insert, and the one to write; otherwise empty texts.
std::pair<std::string_view, std::string_view> typographicQuote(std::string_view utf8);

/// Returns "a tab", "tabs", "spaces" or "tabs and spaces".
std::string describeBlanks(std::string_view blanks);

} // namespace tile::frontend
