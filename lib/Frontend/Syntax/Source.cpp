// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Line table: the offsets at which lines start, searched by bisection.

#include "Frontend/Syntax/Source.h"

#include <algorithm>

namespace tile::frontend {

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
