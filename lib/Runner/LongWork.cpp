// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/LongWork.h"

#include "Runner/Progress.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace tile::runner {

static constexpr auto patience = std::chrono::seconds(1); // shorter work shows no progress line
static constexpr auto interval = std::chrono::milliseconds(200);

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool TimeLimit::isOver() const {
  return secondsSince(start) >= seconds;
}

runtime::Error TimeLimit::error() const {
  return runtime::makeError(TILE_ERROR_DRIVER, "the time limit of {:g} s has expired", seconds);
}

bool TimeLimit::ended(const runtime::Error &error) const {
  return isOver() && error.message == this->error().message;
}

HardLimit::HardLimit(const std::optional<TimeLimit> &limit, std::function<void(const runtime::Error &)> report) {
  constexpr auto grace = std::chrono::seconds(1); // allows work that checks the limit itself to end in an orderly way
  constexpr double longest = 1e9;                 // in seconds; the clock overflows with more
  if (!limit || limit->seconds > longest)
    return;
  const auto end =
      limit->start + grace +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(limit->seconds));
  watcher = std::thread([this, end, error = limit->error(), report = std::move(report)] {
    std::unique_lock lock(mutex);
    if (changed.wait_until(lock, end, [this] { return isDone; }))
      return;
    report(error);
    std::_Exit(1);
  });
}

HardLimit::~HardLimit() {
  {
    const std::lock_guard lock(mutex);
    isDone = true;
  }
  changed.notify_all();
  if (watcher.joinable())
    watcher.join();
}

std::string progressText(const std::string &name, double share, double seconds) {
  if (share <= 0)
    return fmt::format("{}: {} so far", name, durationText(seconds));
  return fmt::format("{}: {:.0f} %, {} left", name, 100 * share, durationText(seconds / share * (1 - share)));
}

LongWork::LongWork(std::string name, std::optional<TimeLimit> limit)
    : name(std::move(name)), limit(limit), isShown(isatty(fileno(stderr))), next(start + patience) {}

LongWork::~LongWork() {
  if (hasLine)
    fmt::print(stderr, "{}", clearLine);
}

bool LongWork::reach(double done, double all) {
  if (limit && limit->isOver())
    stopped = true;
  if (isShown)
    if (const std::unique_lock lock(mutex, std::try_to_lock); lock && Clock::now() >= next) {
      next = Clock::now() + interval;
      hasLine = true;
      fmt::print(stderr, "{}{}", clearLine, progressText(name, all > 0 ? done / all : 0, secondsSince(start)));
    }
  return !stopped;
}

} // namespace tile::runner
