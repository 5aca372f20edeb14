// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the line table, which holds the offsets at which lines start and is searched by bisection, and checks
// UTF-8 as RFC 3629 defines it.

#include "Frontend/Syntax/Source.h"

#include <algorithm>
#include <bit>

namespace tile::frontend {

std::optional<size_t> findInvalidUtf8(std::string_view text) {
  constexpr uint32_t smallest[] = {0, 0x80, 0x800, 0x10000}; // by the number of continuation bytes
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const int ones = std::countl_one(lead);
    const size_t following = ones == 0 ? 0 : static_cast<size_t>(ones) - 1;
    if (ones == 1 || ones > 4 || text.size() - i <= following)
      return i;
    uint32_t code = lead & (0x7F >> ones);
    for (size_t k = 1; k <= following; ++k) {
      const auto byte = static_cast<uint8_t>(text[i + k]);
      if ((byte & 0xC0) != 0x80)
        return i;
      code = code << 6 | (byte & 0x3F);
    }
    if (code < smallest[following] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return i;
    i += following + 1;
  }
  return std::nullopt;
}

LineTable::LineTable(std::string_view text) : text(text) {
  starts.push_back(0);
  for (size_t i = 0; i < text.size(); ++i) {
    bool loneReturn = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (text[i] == '\n' || loneReturn)
      starts.push_back(static_cast<uint32_t>(i + 1));
  }
}

LineColumn LineTable::locate(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text.size()));
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - starts.begin());
  return {line, offset - starts[line - 1] + 1};
}

uint32_t LineTable::lineStart(uint32_t number) const {
  if (number == 0 || number > starts.size())
    return static_cast<uint32_t>(text.size());
  return starts[number - 1];
}

std::string_view LineTable::line(uint32_t number) const {
  if (number == 0 || number > starts.size())
    return {};
  size_t begin = starts[number - 1];
  size_t end = number < starts.size() ? starts[number] : text.size();
  while (end > begin && (text[end - 1] == '\n' || text[end - 1] == '\r'))
    --end;
  return text.substr(begin, end - begin);
}

} // namespace tile::frontend
