// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes that may die: what they were doing, and what they said.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace tile::fuzz {

/// In memory that processes share.
void *newSharedBytes(size_t bytes);
template <typename T> T *newShared() {
  return new (newSharedBytes(sizeof(T))) T();
}

struct Progress {
  uint64_t mutant = ~uint64_t(0); ///< The one that the process is busy with.
};

struct Outcome {
  uint64_t mutant = 0;
  int signal = 0, code = 0;
  std::string errors; ///< The end of what it wrote to standard error.

  bool isFine() const { return signal == 0 && code == 0; }
  /// The same for the same bug, as far as can be told: the assertion, the sanitizer's summary, the signal.
  std::string signature() const;
};

/// Runs the work in a child with limits of memory.
Outcome runIsolated(const std::function<void(Progress &)> &work);
/// From now on the process has as much processor time as one mutant may take.
void startClock();
int waitForProcess(pid_t process);
void raiseStackLimit();

} // namespace tile::fuzz
