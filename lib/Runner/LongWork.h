// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of the CPU that may take long: a simulation, a check. On a terminal a line says how far it is; where the command
// has a time limit, the work stops when that is over.
#pragma once

#include "Runtime/Result.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace tile::runner {

/// Of a command, from its start.
struct TimeLimit {
  explicit TimeLimit(double seconds) : seconds(seconds) {}

  bool isOver() const;
  runtime::Error error() const;
  /// Whether work that failed with `error` was stopped because the time is over.
  bool ended(const runtime::Error &error) const;

  double seconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// "simulation: 37 %, 12 s left"; without a share "simulation: 12 s so far".
std::string progressText(const std::string &name, double share, double seconds);

class LongWork {
public:
  LongWork(std::string name, std::optional<TimeLimit> limit);
  /// The line goes.
  ~LongWork();
  LongWork(const LongWork &) = delete;
  LongWork &operator=(const LongWork &) = delete;

  /// So much of the work is done; for any thread, every millisecond or so. False: stop.
  bool reach(double done, double all);
  /// Somebody was told to stop.
  bool wasStopped() const { return stopped; }
  runtime::Error error() const { return limit->error(); }

private:
  using Clock = std::chrono::steady_clock;

  std::string name;
  std::optional<TimeLimit> limit;
  bool isShown;
  std::atomic<bool> stopped = false;
  std::mutex mutex; ///< of the line
  Clock::time_point start = Clock::now(), next;
  bool hasLine = false;
};

} // namespace tile::runner
