// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime/NearestName.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tile::runtime {

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string knownNames(std::string_view name, std::vector<std::string> known) {
  constexpr size_t most = 5;
  std::set<std::string> seen; // variants for different targets may have the same name
  std::erase_if(known, [&](const std::string &text) { return !seen.insert(text).second; });
  const size_t count = known.size();
  if (count <= most)
    return fmt::format("; it has {}", fmt::join(known, ", "));
  std::stable_sort(known.begin(), known.end(), [&](const std::string &a, const std::string &b) {
    return editDistance(name, a) < editDistance(name, b);
  });
  known.resize(most);
  return fmt::format("; the nearest of its {} names: {}", count, fmt::join(known, ", "));
}

} // namespace tile::runtime
