// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the simulated driver: device and host allocations, copies, fills, and pointer attributes.
#include "SimDriver/State.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

struct FreeBytes {
  void operator()(void *bytes) const { std::free(bytes); }
};
/// Page-locked memory, keyed by address. Guarded by the state's mutex.
std::map<void *, std::unique_ptr<void, FreeBytes>> hostBuffers;

// The caller of the functions below holds the mutex. Any address is valid for a copy of zero bytes.

/// Records the accesses of a copy. An address of 0 stands for host memory.
void noteCopy(CUdeviceptr from, CUdeviceptr to, size_t bytes) {
  nameOperation("a copy");
  if (from)
    noteAccess(AccessKind::Read, from, bytes);
  if (to)
    noteAccess(AccessKind::Write, to, bytes);
}

CUresult toDevice(CUdeviceptr to, const void *from, size_t bytes) {
  std::byte *target = state().devices.find(to, bytes);
  if (bytes == 0)
    return success;
  if (!target || !from)
    return invalidValue;
  std::memcpy(target, from, bytes);
  noteCopy(0, to, bytes);
  return success;
}

CUresult toHost(void *to, CUdeviceptr from, size_t bytes) {
  const std::byte *source = state().devices.find(from, bytes);
  if (bytes == 0)
    return success;
  if (!source || !to)
    return invalidValue;
  std::memcpy(to, source, bytes);
  noteCopy(from, 0, bytes);
  return success;
}

CUresult onDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  std::byte *target = state().devices.find(to, bytes);
  const std::byte *source = state().devices.find(from, bytes);
  if (!target || !source)
    return bytes == 0 ? success : invalidValue;
  std::memmove(target, source, bytes);
  noteCopy(from, to, bytes);
  return success;
}

/// Copies between addresses that may each be on the host or on a device.
CUresult anywhere(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  const bool toIsDevice = state().devices.contents().find(to, 1),
             fromIsDevice = state().devices.contents().find(from, 1);
  if (toIsDevice && fromIsDevice)
    return onDevice(to, from, bytes);
  if (toIsDevice)
    return toDevice(to, reinterpret_cast<const void *>(from), bytes);
  if (fromIsDevice)
    return toHost(reinterpret_cast<void *>(to), from, bytes);
  if (bytes == 0)
    return success;
  if (!to || !from)
    return invalidValue;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return success;
}

template <typename T> CUresult fill(CUdeviceptr to, T value, size_t count) {
  if (count > SIZE_MAX / sizeof(T))
    return invalidValue;
  std::byte *target = state().devices.find(to, count * sizeof(T));
  if (!target || to % sizeof(T) != 0)
    return count == 0 ? success : invalidValue;
  for (size_t i = 0; i < count; ++i)
    std::memcpy(target + i * sizeof(T), &value, sizeof(T));
  nameOperation("a fill");
  noteAccess(AccessKind::Write, to, count * sizeof(T));
  return success;
}

template <typename T> CUresult fillNow(CUdeviceptr to, T value, size_t count) {
  return submitNow(false, [=] { return fill(to, value, count); });
}

template <typename T> CUresult fillIn(CUstream stream, CUdeviceptr to, T value, size_t count) {
  return submit(stream, [=] { return fill(to, value, count); });
}

} // namespace

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  if (!pointer || bytes == 0)
    return invalidValue;
  return locked([=] {
    *pointer = state().devices.allocate(std::max(0, currentDevice()), bytes);
    return *pointer ? success : outOfMemory;
  });
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return locked([=] {
    if (pointer == 0)
      return success;
    state().order.synchronizeDevice(currentDevice());
    return state().devices.release(pointer) ? success : invalidValue;
  });
}

static bool isCaptured(CUstream stream) {
  const std::lock_guard lock(state().mutex);
  return state().captures.isCaptured(stream);
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  return isCaptured(stream) ? captureUnsupported : cuMemAlloc_v2(pointer, bytes);
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return isCaptured(stream) ? captureUnsupported : cuMemFree_v2(pointer);
}
EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (!free || !total)
    return invalidValue;
  const std::lock_guard lock(state().mutex);
  size_t taken = 0;
  for (const Allocation &allocation : state().devices.contents().allocations())
    taken += allocation.size;
  *total = deviceBytes;
  *free = deviceBytes - std::min(taken, deviceBytes);
  return success;
}

EXPORT CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  constexpr size_t page = 4096;
  if (!pointer || bytes == 0)
    return invalidValue;
  if (bytes > SIZE_MAX - page)
    return outOfMemory;
  return locked([=] {
    std::unique_ptr<void, FreeBytes> buffer(std::aligned_alloc(page, (bytes + page - 1) / page * page));
    if (!buffer)
      return outOfMemory;
    void *address = buffer.get();
    hostBuffers[address] = std::move(buffer);
    *pointer = address;
    return success;
  });
}
EXPORT CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}
EXPORT CUresult cuMemFreeHost(void *pointer) {
  return locked([=] { return hostBuffers.erase(pointer) == 1 ? success : invalidValue; });
}
EXPORT CUresult cuMemHostRegister_v2(void *, size_t, unsigned) {
  return success;
}
EXPORT CUresult cuMemHostUnregister(void *) {
  return success;
}

EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) {
  const std::lock_guard lock(state().mutex);
  const Allocation *allocation = state().devices.contents().find(pointer, 1);
  if (!allocation)
    return invalidValue;
  if (base)
    *base = allocation->address;
  if (bytes)
    *bytes = allocation->size;
  return success;
}
EXPORT CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer) {
  // Values of CUpointer_attribute and CUmemorytype (CUDA driver API).
  constexpr int memoryType = 2, devicePointer = 3, device = 9, rangeStart = 11, rangeBytes = 12;
  constexpr unsigned ofHost = 1, ofDevice = 2;
  if (!value)
    return invalidValue;
  const std::lock_guard lock(state().mutex);
  const Allocation *allocation = state().devices.contents().find(pointer, 1);
  const auto set = [value](auto result) {
    std::memcpy(value, &result, sizeof(result));
    return success;
  };
  if (!allocation) // page-locked memory is found only by its start address
    return attribute == memoryType && hostBuffers.contains(reinterpret_cast<void *>(pointer)) ? set(ofHost)
                                                                                              : invalidValue;
  switch (attribute) {
  case memoryType:
    return set(ofDevice);
  case devicePointer:
    return set(pointer);
  case device:
    return set(state().devices.ownerOf(*allocation));
  case rangeStart:
    return set(CUdeviceptr(allocation->address));
  case rangeBytes:
    return set(size_t(allocation->size));
  default:
    return invalidValue;
  }
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return submitNow(true, [=] { return toDevice(to, from, bytes); });
}
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return submitNow(true, [=] { return toHost(to, from, bytes); });
}
EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return submitNow(false, [=] { return onDevice(to, from, bytes); });
}
EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return submitNow(true, [=] { return anywhere(to, from, bytes); });
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return submit(stream, [=] { return toDevice(to, from, bytes); });
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return submit(stream, [=] { return toHost(to, from, bytes); });
}
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return submit(stream, [=] { return onDevice(to, from, bytes); });
}
EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return submit(stream, [=] { return anywhere(to, from, bytes); });
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fillNow(to, value, count);
}
EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fillNow(to, value, count);
}
EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fillNow(to, value, count);
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fillIn(stream, to, value, count);
}
EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fillIn(stream, to, value, count);
}
EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fillIn(stream, to, value, count);
}
