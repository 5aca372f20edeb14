// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loop over all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace tile::runner {

/// Calls body(begin, end) for consecutive pieces of [0, count), on as many threads as there are cores; `grain` is the
/// smallest piece worth a thread. A body that treats elements independently computes the same on any number of threads.
void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body);

} // namespace tile::runner
