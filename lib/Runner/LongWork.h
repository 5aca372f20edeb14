// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long-running CPU work, such as a simulation or a check. It shows a progress line on a terminal, and stops when the
// time limit of the command has expired.
#pragma once

#include "Runtime/Result.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tile::runner {

/// The time limit of a command, counted from the command's start.
struct TimeLimit {
  explicit TimeLimit(double seconds) : seconds(seconds) {}

  bool isOver() const;
  runtime::Error error() const;
  /// Returns true if `error` is the error of work that this limit stopped.
  bool ended(const runtime::Error &error) const;

  double seconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// Ends the process when a time limit has been exceeded by more than a second, because some work, such as filling large
/// buffers, does not check the limit itself. `report` prints the error.
class HardLimit {
public:
  HardLimit(const std::optional<TimeLimit> &limit, std::function<void(const runtime::Error &)> report);
  ~HardLimit();
  HardLimit(const HardLimit &) = delete;

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::thread watcher;
};

/// Returns "simulation: 37 %, 12 s left" or, if the share is unknown, "simulation: 12 s so far".
std::string progressText(const std::string &name, double share, double seconds);

class LongWork {
public:
  LongWork(std::string name, std::optional<TimeLimit> limit);
  /// Erases the progress line.
  ~LongWork();
  LongWork(const LongWork &) = delete;
  LongWork &operator=(const LongWork &) = delete;

  /// Reports progress. Any thread may call it, about every millisecond. Returns false if the work must stop.
  bool reach(double done, double all);
  /// Returns true if the work was told to stop.
  bool wasStopped() const { return stopped; }
  runtime::Error error() const { return limit->error(); }

private:
  using Clock = std::chrono::steady_clock;

  std::string name;
  std::optional<TimeLimit> limit;
  bool isShown;
  std::atomic<bool> stopped = false;
  std::mutex mutex; ///< guards the progress line
  Clock::time_point start = Clock::now(), next;
  bool hasLine = false;
};

} // namespace tile::runner
