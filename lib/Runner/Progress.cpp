// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Progress.h"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace tile::runner {

std::string durationText(double seconds) {
  if (seconds < 90)
    return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  return minutes < 90 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

Progress::Progress(size_t count) : count(count), isShown(isatty(fileno(stderr))) {}

void Progress::show(const std::string &name) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string left = position == 0
                               ? std::string()
                               : fmt::format(", {} left", durationText(seconds / static_cast<double>(position) *
                                                                       static_cast<double>(count - position)));
  ++position;
  if (isShown)
    fmt::print(stderr, "{}[{}/{}{}] {}", clearLine, position, count, left, name);
}

void Progress::hide() const {
  if (isShown)
    fmt::print(stderr, "{}", clearLine);
}

} // namespace tile::runner
