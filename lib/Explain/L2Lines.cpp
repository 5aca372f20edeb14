// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/L2Lines.h"

#include <algorithm>

namespace tile::explain {

static void sortUnique(std::vector<uint32_t> &lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
}

void LineSet::add(uint64_t first, uint64_t last) {
  for (uint64_t line = first; line <= last; ++line)
    if (lines.empty() || lines.back() != line)
      lines.push_back(uint32_t(line));
  // Remove duplicates from time to time, so that repeated reads do not grow the list.
  constexpr size_t few = 64;
  if (lines.size() > 2 * tidied + few)
    tidy();
}

void LineSet::tidy() {
  sortUnique(lines);
  tidied = lines.size();
}

std::vector<uint32_t> LineSet::sorted() const {
  std::vector<uint32_t> all = lines;
  sortUnique(all);
  return all;
}

} // namespace tile::explain
