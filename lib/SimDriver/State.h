// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state shared by the functions of the simulated driver.
#pragma once

#include "SimDriver/Capture.h"
#include "SimDriver/Device.h"
#include "SimDriver/StreamOrder.h"

#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace tile::sim {

// Values of CUresult (CUDA driver API).
constexpr runtime::CUresult success = runtime::cuda::success, invalidValue = runtime::cuda::errorInvalidValue,
                            outOfMemory = 2, notInitialized = 3, invalidImage = runtime::cuda::errorInvalidImage,
                            invalidContext = 201, invalidPtx = 218, invalidSource = 300, notSupported = 801,
                            peerAccessUnsupported = 217, notFound = 500, peerAccessEnabled = 704,
                            peerAccessNotEnabled = 705, launchFailed = 719, cooperativeTooLarge = 720,
                            captureUnsupported = 900, capturedEvent = 907, invalidHandle = 400, unknownError = 999;

struct State {
  std::mutex mutex; ///< guards all members below
  SimulatedDevices devices;
  Captures captures;
  StreamOrder order;
  StreamOperation *operation = nullptr; ///< the operation that is being executed; null if its order is not checked
  uint64_t numOperations = 0;           ///< number of calls by all threads, not counting waits
};
State &state();

/// Returns the device of the context that is current on this thread, or -1 if there is none.
int currentDevice();
/// Returns the device of a context, or -1 if there is no such context. The caller holds the mutex.
int deviceOf(runtime::CUcontext context);

inline bool isDevice(runtime::CUdevice device) {
  return device >= 0 && device < numDevices;
}

/// Prints `error` and returns `number`.
runtime::CUresult fail(runtime::CUresult number, const runtime::Error &error);

/// Returns the function with this handle, or null. The caller holds the mutex.
LoadedFunction *findFunction(runtime::CUfunction function);

/// Calls `work` and converts exceptions to errors: callers are C code, so exceptions must not leave the driver.
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

/// Does the same as guarded() while holding the state's mutex.
template <typename Function> runtime::CUresult locked(Function &&work) noexcept {
  return guarded([&] {
    const std::lock_guard lock(state().mutex);
    ++state().numOperations;
    return work();
  });
}

/// Executes an operation of a stream, and checks that it is ordered with conflicting operations of other streams
/// (StreamOrder.h). `after`, if not null, is set to the operation's clock. The caller holds the mutex.
runtime::CUresult execute(const StreamOrder::Place &place, const Work &work, VectorClock *after = nullptr);
/// Executes an operation of a stream, or records it for a graph. The caller holds the mutex.
runtime::CUresult executeOrKeep(runtime::CUstream stream, Work work);
/// Does the same for a caller that does not hold the mutex.
template <typename Function> runtime::CUresult submit(runtime::CUstream stream, Function &&work) noexcept {
  return locked([&] { return executeOrKeep(stream, std::forward<Function>(work)); });
}
/// Executes an operation of the default stream. If the host waits for it, everything that is submitted later comes
/// after it.
template <typename Function> runtime::CUresult submitNow(bool hostWaits, Function &&work) noexcept {
  return locked([&] {
    VectorClock after;
    const runtime::CUresult result = execute({.device = currentDevice()}, work, &after);
    if (hostWaits)
      state().order.synchronize(after);
    return result;
  });
}

/// Called by an operation to record its description and its accesses.
void nameOperation(std::string name);
void noteAccess(AccessKind kind, uint64_t address, uint64_t bytes);

/// The internal result of an operation that waits for a value in memory that has not been written yet. Programs never
/// get this result.
constexpr runtime::CUresult stillWaiting = -1;
/// Does the same as execute(), but repeats a waiting operation while other threads change memory. If no other thread
/// calls the driver for a while, the operation fails. The caller must not hold the mutex.
runtime::CUresult perform(const StreamOrder::Place &place, const Work &work, VectorClock *after = nullptr) noexcept;

} // namespace tile::sim
