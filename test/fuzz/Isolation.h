// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Isolated processes that may crash: what they were executing, and their output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace tile::fuzz {

/// Progress in shared memory.
void *newSharedBytes(size_t bytes);
template <typename T> T *newShared() {
  return new (newSharedBytes(sizeof(T))) T();
}

struct Progress {
  uint64_t mutant = ~uint64_t(0); ///< The trial that the process executes.
};

struct Outcome {
  uint64_t mutant = 0;
  int signal = 0, code = 0;
  std::string errors; ///< The end of its standard error output.

  bool isFine() const { return signal == 0 && code == 0; }
  /// A key that is the same for the same bug, as far as possible: the assertion, the sanitizer's summary, or the
  /// signal.
  std::string signature() const;
};

/// Runs the work in a child process with memory limits.
Outcome runIsolated(const std::function<void(Progress &)> &work);
/// From now on, limits the process to the CPU time of one mutant.
void startClock();
int waitForProcess(pid_t process);
void raiseStackLimit();

} // namespace tile::fuzz
