// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware counters of one launch, from CUPTI's range profiler (CUDA 12.6 and later), loaded with dlopen if available.
// Drivers may restrict counters to administrators.
#pragma once

#include "Lab/Bench/Stopwatch.h"

namespace tile::runner {

/// Counter values. Values that the GPU does not support are absent.
struct CounterValues {
  std::optional<double> memoryBytes;         ///< read and written
  std::optional<double> l2Bytes;             ///< bytes of all requests to L2
  std::optional<double> tensorShare;         ///< share of cycles in which the tensor pipe is active, 0 to 1
  std::optional<double> specialInstructions; ///< warp instructions of the special function units
  std::optional<double> warpsShare;          ///< active warps as a share of the maximum, 0 to 1
};

/// Launches once for each pass that the counters need, with a cold L2 cache. `library` is a path, or "" for the usual
/// names. If there are no counters, the error gives the reason.
Result<CounterValues> measureCounters(CudaContext &context, const Stopwatch &watch, const Launch &launch,
                                      const std::string &library);

} // namespace tile::runner
