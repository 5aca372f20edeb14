// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware counters of one launch, from CUPTI's range profiler (CUDA 12.6 on), loaded with dlopen where the machine has
// it. Drivers may allow it to administrators alone.
#pragma once

#include "Runner/Bench/Stopwatch.h"

namespace tile::runner {

/// What the card has no counter for is absent.
struct CounterValues {
  std::optional<double> memoryBytes;         ///< read and written
  std::optional<double> l2Bytes;             ///< of all requests to the L2 cache
  std::optional<double> tensorShare;         ///< of the cycles in which the tensor cores' pipe works, 0 to 1
  std::optional<double> specialInstructions; ///< of the special function units, one for each warp
  std::optional<double> warpsShare;          ///< of the warps that fit, 0 to 1
};

/// Launches as often as the counters need passes, with a cold L2 cache. `library`: a path, or "" for the usual names.
/// The error says why there are no counters.
Result<CounterValues> measureCounters(CudaContext &context, const Stopwatch &watch, const Launch &launch,
                                      const std::string &library);

} // namespace tile::runner
