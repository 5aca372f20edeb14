// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles in a separate process: `tilec worker`.
#pragma once

#include "tools/tilec/Request.h"

#include <atomic>

namespace tile {

struct WorkerSettings {
  std::string program;
  uint64_t memoryBytes = 0; ///< 0: no limit
};

/// Returns the path of bin/tilec in the folder in which libtilec is installed or built; empty if there is none.
std::string findWorker();

/// Compiles in a worker process. If the process fails, returns an answer that says so. `cancelled` may be null.
Answer compileInWorker(const WorkerSettings &settings, const Request &request, const std::atomic<bool> *cancelled);

} // namespace tile
