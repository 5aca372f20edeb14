// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilation in a process apart: `tilec worker`.
#pragma once

#include "tools/tilec/Request.h"

#include <atomic>

namespace tile {

struct WorkerSettings {
  std::string program;
  uint64_t memoryBytes = 0; ///< 0: no limit
};

/// bin/tilec of the folder that libtilec is installed in, or built; empty if there is none.
std::string findWorker();

/// Whatever happens to the process is an answer. `cancelled` may be null.
Answer answerElsewhere(const WorkerSettings &settings, const Request &request, const std::atomic<bool> *cancelled);

} // namespace tile
