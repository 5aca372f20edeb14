// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Order/CodeText.h"

#include "Order/Hash.h"

namespace tile::order {

std::string hashCode(std::string_view ptx) {
  uint64_t hash = 0;
  for (size_t begin = 0; begin < ptx.size();) {
    size_t end = ptx.find('\n', begin);
    end = end == std::string_view::npos ? ptx.size() : end;
    std::string_view line = ptx.substr(begin, end - begin);
    begin = end + 1;
    if (const size_t comment = line.find("//"); comment != std::string_view::npos)
      line = line.substr(0, comment);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
      continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    // "$L__tmp3:" marks a scope of the debugger.
    if (line.starts_with(".loc") || line.starts_with(".file") || line.starts_with("$L__tmp"))
      continue;
    hash = mix(hash, line);
  }
  return hexOf(hash);
}

} // namespace tile::order
