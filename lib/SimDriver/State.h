// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of the simulated driver share.
#pragma once

#include "SimDriver/Capture.h"
#include "SimDriver/Device.h"

#include <mutex>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace tile::sim {

// CUDA driver API, CUresult.
constexpr runtime::CUresult success = runtime::cuda::success, invalidValue = runtime::cuda::errorInvalidValue,
                            outOfMemory = 2, invalidImage = runtime::cuda::errorInvalidImage, invalidContext = 201,
                            notFound = 500, launchFailed = 719, captureUnsupported = 900, capturedEvent = 907;

struct State {
  std::mutex mutex; ///< of all that follows
  SimulatedDevice device;
  Captures captures;
};
State &state();

/// Does the work, or keeps it for a graph, as Captures::submit.
runtime::CUresult submit(runtime::CUstream stream, Work work);

} // namespace tile::sim
