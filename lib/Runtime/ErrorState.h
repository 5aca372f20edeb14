// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling thread's last error: a fixed buffer, so that reporting a failure does not allocate.
#pragma once

#include "Runtime/Result.h"

#include <algorithm>
#include <string_view>

namespace tile::runtime {

constexpr size_t longestErrorText = 1024;

char *lastErrorBuffer();

/// Formats into the thread's buffer, truncating if necessary, and returns `code`.
template <typename... Args>
tile_status reportError(tile_status code, fmt::format_string<Args...> format, Args &&...args) {
  char *buffer = lastErrorBuffer();
  const auto written = fmt::format_to_n(buffer, longestErrorText - 1, format, std::forward<Args>(args)...);
  buffer[std::min(written.size, longestErrorText - 1)] = '\0';
  return code;
}

inline tile_status reportError(const Error &error) {
  return reportError(error.code, "{}", error.message);
}

} // namespace tile::runtime
