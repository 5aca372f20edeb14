// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows the current case and the remaining time in one line, which the next report overwrites. Shows nothing if the
// output is not a terminal.
#pragma once

#include <chrono>
#include <string>

namespace tile::runner {

inline constexpr const char *clearLine = "\r\x1b[K"; // ECMA-48: erase to the end of the line

/// Returns "40 s", "12 min", "3 h 20 min".
std::string durationText(double seconds);

class Progress {
public:
  explicit Progress(size_t count);
  void show(const std::string &name);
  void hide() const;
  /// Skips a case, which then does not count when the remaining time is estimated.
  void skip() { --count; }

private:
  size_t count, position = 0;
  bool isShown;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace tile::runner
