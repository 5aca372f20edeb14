// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State shared by the functions of the simulated driver.
#pragma once

#include "SimDriver/Capture.h"
#include "SimDriver/Device.h"

#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace tile::sim {

// CUDA driver API, CUresult.
constexpr runtime::CUresult success = runtime::cuda::success, invalidValue = runtime::cuda::errorInvalidValue,
                            outOfMemory = 2, notInitialized = 3, invalidImage = runtime::cuda::errorInvalidImage,
                            invalidContext = 201, invalidPtx = 218, invalidSource = 300, notSupported = 801,
                            peerAccessUnsupported = 217, notFound = 500, peerAccessEnabled = 704,
                            peerAccessNotEnabled = 705, launchFailed = 719, captureUnsupported = 900,
                            capturedEvent = 907, invalidHandle = 400, unknownError = 999;

struct State {
  std::mutex mutex; ///< guards all members below
  SimulatedDevices devices;
  Captures captures;
  uint64_t numOperations = 0; ///< of all threads, except those that wait
};
State &state();

/// Returns the device of the context that is current on this thread; -1 if there is none.
int currentDevice();
/// Returns the device of a context; -1 if there is no such context. The caller holds the mutex.
int deviceOf(runtime::CUcontext context);

inline bool isDevice(runtime::CUdevice device) {
  return device >= 0 && device < numDevices;
}

/// Prints the error and returns the number.
runtime::CUresult fail(runtime::CUresult number, const runtime::Error &error);

/// Returns the function with this handle, or null. The caller holds the mutex.
LoadedFunction *findFunction(runtime::CUfunction function);

/// Calls `work`. Callers are C code, so no exception may leave the driver.
template <typename Function> runtime::CUresult guarded(Function &&work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return outOfMemory;
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "simulator: %s\n", exception.what());
    return unknownError;
  }
}

/// Like guarded, with the state locked.
template <typename Function> runtime::CUresult locked(Function &&work) noexcept {
  return guarded([&] {
    const std::lock_guard lock(state().mutex);
    ++state().numOperations;
    return work();
  });
}

/// Executes `work`, or records it for a graph, as Captures::submit does. It may throw if the stream is not captured.
template <typename Function> runtime::CUresult submit(runtime::CUstream stream, Function &&work) noexcept {
  return locked([&] { return state().captures.submit(stream, std::forward<Function>(work)); });
}

/// The result of an operation that waits for a value in memory which is not there yet; never returned to programs.
constexpr runtime::CUresult stillWaiting = -1;
/// Executes an operation of a stream. One that waits is repeated while other threads change memory; if none of them
/// calls the driver for a while, nobody ever will, and the operation fails. The caller does not hold the mutex.
runtime::CUresult perform(const Work &work) noexcept;

} // namespace tile::sim
