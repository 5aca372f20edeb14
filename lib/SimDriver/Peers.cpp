// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Communication between simulated devices: access to each other's memory, and streams that wait for values in memory.
//
// Each device may access the memory of every other device after enabling it as a peer. A stream that waits for a value
// blocks the calling thread until another thread has written the value. A wait for a value that is never written is
// reported as a deadlock.
#include "SimDriver/State.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <thread>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

// The values of CUstreamWaitValue_flags (CUDA driver API).
enum Comparison : unsigned { reached = 0, equal = 1, anyBit = 2, anyZeroBit = 3 };

bool holds(unsigned comparison, uint32_t found, uint32_t value) {
  switch (comparison) {
  case reached:
    return int32_t(found - value) >= 0;
  case equal:
    return found == value;
  case anyBit:
    return (found & value) != 0;
  default:
    return ~(found | value) != 0;
  }
}

/// Describes the value that a stream of this thread is waiting for, for messages.
thread_local std::string awaited;

/// Compares a value in memory. Returns stillWaiting if the comparison does not hold. The caller holds the mutex.
CUresult compareInMemory(CUdeviceptr address, uint32_t value, unsigned comparison) {
  const std::byte *word = state().devices.find(address, sizeof(value));
  if (!word)
    return invalidValue;
  uint32_t found = 0;
  std::memcpy(&found, word, sizeof(found));
  if (holds(comparison, found, value)) {
    if (StreamOperation *operation = state().operation)
      operation->acquired = address;
    return success;
  }
  const Allocation &allocation = *state().devices.contents().find(address, sizeof(value));
  awaited = fmt::format("a stream of device {} waits for the value {} at byte {} of {}, which is {}",
                        std::max(0, currentDevice()), value, address - allocation.address, allocation.name, found);
  return stillWaiting;
}

} // namespace

CUresult tile::sim::perform(const StreamOrder::Place &place, const Work &work, VectorClock *after) noexcept {
  constexpr auto pause = std::chrono::milliseconds(1);
  constexpr auto patience = std::chrono::seconds(20);
  CUresult result = locked([&] { return execute(place, work, after); });
  std::optional<uint64_t> seen;
  std::chrono::steady_clock::time_point since;
  while (result == stillWaiting) {
    std::this_thread::sleep_for(pause);
    result = guarded([&] {
      const std::lock_guard lock(state().mutex);
      if (seen != state().numOperations) {
        seen = state().numOperations;
        since = std::chrono::steady_clock::now();
      }
      return execute(place, work, after);
    });
    if (result == stillWaiting && std::chrono::steady_clock::now() - since > patience) {
      std::fprintf(stderr, "simulator: deadlock: %s, and no thread has called the driver for %lld seconds\n",
                   awaited.c_str(), static_cast<long long>(patience.count()));
      return launchFailed;
    }
  }
  return result;
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  if (!can)
    return invalidValue;
  const auto isDevice = [](CUdevice ordinal) { return ordinal >= 0 && ordinal < numDevices; };
  if (!isDevice(device) || !isDevice(peer))
    return cuda::errorInvalidDevice;
  *can = device != peer;
  return success;
}
EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return locked([=] {
    const int device = currentDevice(), other = deviceOf(peer);
    if (device < 0 || other < 0)
      return invalidContext;
    if (flags != 0)
      return invalidValue;
    if (device == other)
      return peerAccessUnsupported;
    return state().devices.enablePeer(device, other) ? success : peerAccessEnabled;
  });
}
EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return locked([=] {
    const int device = currentDevice(), other = deviceOf(peer);
    if (device < 0 || other < 0)
      return invalidContext;
    return state().devices.disablePeer(device, other) ? success : peerAccessNotEnabled;
  });
}

EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned) {
  return submit(stream, [=] {
    std::byte *word = state().devices.find(address, sizeof(value));
    if (!word || address % sizeof(value) != 0)
      return invalidValue;
    std::memcpy(word, &value, sizeof(value));
    if (StreamOperation *operation = state().operation)
      operation->released = address;
    return success;
  });
}
EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  const unsigned comparison = flags & 3;
  return guarded([=] {
    const Work work = [=] { return compareInMemory(address, value, comparison); };
    bool isCaptured = false;
    const CUresult kept = locked([&] {
      isCaptured = state().captures.isCaptured(stream);
      return isCaptured ? executeOrKeep(stream, work) : success;
    });
    return isCaptured ? kept : perform({currentDevice(), stream}, work);
  });
}
