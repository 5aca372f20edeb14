// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Syntax/Typography.h"

namespace tile::frontend {

std::pair<std::string_view, std::string_view> typographicQuote(std::string_view utf8) {
  constexpr std::string_view marks[][3] = {{"\xE2\x80\x9C", "'\xE2\x80\x9C' (U+201C)", "'\"'"},
                                           {"\xE2\x80\x9D", "'\xE2\x80\x9D' (U+201D)", "'\"'"},
                                           {"\xE2\x80\x98", "'\xE2\x80\x98' (U+2018)", "\"'\""},
                                           {"\xE2\x80\x99", "'\xE2\x80\x99' (U+2019)", "\"'\""}};
  for (const auto &mark : marks)
    if (utf8 == mark[0])
      return {mark[1], mark[2]};
  return {};
}

std::string describeBlanks(std::string_view blanks) {
  const bool hasTabs = blanks.find('\t') != std::string_view::npos, hasSpaces = blanks.find(' ') != blanks.npos;
  if (hasTabs && hasSpaces)
    return "tabs and spaces";
  if (!hasTabs)
    return "spaces";
  return blanks.size() == 1 ? "a tab" : "tabs";
}

} // namespace tile::frontend
