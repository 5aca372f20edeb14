// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts new threads for each loop, since the loops that use this function run for milliseconds to seconds.
#include "Runner/Parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace tile::runner {

void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body) {
  if (count <= 0)
    return;
  const int64_t pieces = (count + grain - 1) / grain;
  const int64_t threads = std::min<int64_t>(pieces, std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    for (int64_t piece = next++; piece < pieces; piece = next++)
      body(piece * grain, std::min(count, (piece + 1) * grain));
  };
  std::vector<std::thread> workers;
  for (int64_t i = 1; i < threads; ++i) {
    try {
      workers.emplace_back(work);
    } catch (const std::system_error &) {
      break; // with fewer threads the loop is slower, but still correct
    }
  }
  work();
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace tile::runner
