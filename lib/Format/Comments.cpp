// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trailing comment starts two columns after its code, or further right to align with comments on adjacent lines.
#include "Format/Comments.h"

#include <algorithm>

namespace tile::format {

std::string joinLines(const std::vector<TextLine> &lines) {
  constexpr unsigned distance = 2;
  std::string text;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin + 1;
    unsigned column = widthOf(lines[begin].code) + distance;
    auto isNeighbour = [&](const TextLine &line) {
      return !line.comment.empty() && line.column == lines[begin].column;
    };
    for (; end < lines.size() && isNeighbour(lines[begin]) && isNeighbour(lines[end]); ++end)
      column = std::max(column, widthOf(lines[end].code) + distance);
    for (; begin < end; ++begin) {
      const TextLine &line = lines[begin];
      bool isBlank = line.code.find_first_not_of(' ') == std::string::npos;
      text += isBlank ? "" : line.code;
      if (!line.comment.empty())
        text += std::string(column - widthOf(line.code), ' ') + std::string(line.comment);
      text += '\n';
    }
  }
  return text;
}

} // namespace tile::format
