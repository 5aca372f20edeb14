// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parallel loop over all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace tile::runner {

/// Calls body(begin, end) for consecutive ranges of [0, count), on one thread per core. `grain` is the smallest range
/// that is worth a thread. If the body processes elements independently, the result does not depend on the number of
/// threads.
void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body);

} // namespace tile::runner
