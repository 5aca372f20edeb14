// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory, page-locked host memory, copies and fills. The addresses determine the direction of a copy.
#include "SimDriver/CudaRuntime/Runtime.h"

using namespace tile::sim::cudart;

namespace {

CUdeviceptr addressOf(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
void *pointerTo(CUdeviceptr address) {
  return reinterpret_cast<void *>(address);
}

/// Copies or fills row by row: calls `function` for each row until it fails.
template <typename Function> cudaError forRows(size_t rows, Function &&function) {
  return call([&] {
    cudaError error = success;
    for (size_t row = 0; row < rows && error == success; ++row)
      error = function(row);
    return error;
  });
}

/// The layout of cudaPointerAttributes.
struct PointerAttributes {
  int type; ///< 0: unregistered, 1: host, 2: device
  int device;
  void *onDevice, *onHost;
  long reserved[8];
};

} // namespace

EXPORT cudaError cudaMalloc(void **pointer, size_t bytes) {
  return call([=] {
    if (!pointer)
      return invalidValue;
    CUdeviceptr address = 0;
    const cudaError error = bytes ? cuMemAlloc_v2(&address, bytes) : success;
    *pointer = pointerTo(address);
    return error;
  });
}
EXPORT cudaError cudaFree(void *pointer) {
  return call([=] { return cuMemFree_v2(addressOf(pointer)); });
}
EXPORT cudaError cudaMallocAsync(void **pointer, size_t bytes, CUstream stream) {
  return call([=] {
    if (!pointer)
      return invalidValue;
    CUdeviceptr address = 0;
    const cudaError error = bytes ? cuMemAllocAsync(&address, bytes, stream) : success;
    *pointer = pointerTo(address);
    return error;
  });
}
EXPORT cudaError cudaFreeAsync(void *pointer, CUstream stream) {
  return call([=] { return cuMemFreeAsync(addressOf(pointer), stream); });
}
EXPORT cudaError cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  constexpr size_t alignment = 512;
  if (!pitch || width > SIZE_MAX / 2)
    return keep(invalidValue);
  *pitch = (width + alignment - 1) / alignment * alignment;
  return height > SIZE_MAX / (*pitch + 1) ? keep(invalidValue) : cudaMalloc(pointer, *pitch * height);
}
/// Managed memory is not supported, because no address is valid both on the host and on the simulated device.
EXPORT cudaError cudaMallocManaged(void **, size_t, unsigned) {
  return keep(notSupported);
}
EXPORT cudaError cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return call([=] { return cuMemHostAlloc(pointer, bytes, flags); });
}
EXPORT cudaError cudaMallocHost(void **pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}
EXPORT cudaError cudaFreeHost(void *pointer) {
  return call([=] { return pointer ? cuMemFreeHost(pointer) : success; });
}
EXPORT cudaError cudaHostRegister(void *, size_t, unsigned) {
  return success;
}
EXPORT cudaError cudaHostUnregister(void *) {
  return success;
}
EXPORT cudaError cudaMemGetInfo(size_t *free, size_t *total) {
  return call([=] { return cuMemGetInfo_v2(free, total); });
}
EXPORT cudaError cudaPointerGetAttributes(PointerAttributes *attributes, const void *pointer) {
  return call([=] {
    constexpr int memoryType = 2, deviceOrdinal = 9, ofDevice = 2;
    if (!attributes)
      return invalidValue;
    *attributes = {};
    attributes->device = -2; // cudaInvalidDeviceId
    unsigned type = 0;
    if (cuPointerGetAttribute(&type, memoryType, addressOf(pointer)) != success) {
      attributes->onHost = const_cast<void *>(pointer);
      return success;
    }
    attributes->type = int(type);
    if (type == ofDevice) {
      attributes->onDevice = const_cast<void *>(pointer);
      return cuPointerGetAttribute(&attributes->device, deviceOrdinal, addressOf(pointer));
    }
    attributes->onHost = const_cast<void *>(pointer);
    attributes->device = deviceOfThread();
    return success;
  });
}

EXPORT cudaError cudaMemcpy(void *to, const void *from, size_t bytes, int) {
  return call([=] { return cuMemcpy(addressOf(to), addressOf(from), bytes); });
}
EXPORT cudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, CUstream stream) {
  return call([=] { return cuMemcpyAsync(addressOf(to), addressOf(from), bytes, stream); });
}
EXPORT cudaError cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, 0);
}
EXPORT cudaError cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, CUstream stream) {
  return cudaMemcpyAsync(to, from, bytes, 0, stream);
}
EXPORT cudaError cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
                              int) {
  return forRows(height, [=](size_t row) {
    return cuMemcpy(addressOf(to) + row * toPitch, addressOf(from) + row * fromPitch, width);
  });
}
EXPORT cudaError cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                                   size_t height, int, CUstream stream) {
  return forRows(height, [=](size_t row) {
    return cuMemcpyAsync(addressOf(to) + row * toPitch, addressOf(from) + row * fromPitch, width, stream);
  });
}
EXPORT cudaError cudaMemset(void *to, int value, size_t bytes) {
  return call([=] { return cuMemsetD8_v2(addressOf(to), static_cast<unsigned char>(value), bytes); });
}
EXPORT cudaError cudaMemsetAsync(void *to, int value, size_t bytes, CUstream stream) {
  return call([=] { return cuMemsetD8Async(addressOf(to), static_cast<unsigned char>(value), bytes, stream); });
}
EXPORT cudaError cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return forRows(height, [=](size_t row) {
    return cuMemsetD8_v2(addressOf(to) + row * pitch, static_cast<unsigned char>(value), width);
  });
}

EXPORT cudaError cudaGetSymbolAddress(void **pointer, const void *symbol) {
  return call([=] {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const cudaError error = findVariable(symbol, address, bytes);
    *pointer = pointerTo(address);
    return error;
  });
}
EXPORT cudaError cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return call([=] {
    CUdeviceptr address = 0;
    return findVariable(symbol, address, *bytes);
  });
}
/// Copies to or from a part of a device variable.
static cudaError copySymbol(const void *symbol, const void *host, size_t bytes, size_t offset, bool isToSymbol,
                            CUstream stream) {
  return call([=] {
    CUdeviceptr address = 0;
    size_t size = 0;
    if (const cudaError error = findVariable(symbol, address, size))
      return error;
    if (offset > size || bytes > size - offset)
      return invalidValue;
    return isToSymbol ? cuMemcpyAsync(address + offset, addressOf(host), bytes, stream)
                      : cuMemcpyAsync(addressOf(host), address + offset, bytes, stream);
  });
}
EXPORT cudaError cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int,
                                         CUstream stream) {
  return copySymbol(symbol, from, bytes, offset, true, stream);
}
EXPORT cudaError cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int) {
  return copySymbol(symbol, from, bytes, offset, true, nullptr);
}
EXPORT cudaError cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int,
                                           CUstream stream) {
  return copySymbol(symbol, to, bytes, offset, false, stream);
}
EXPORT cudaError cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int) {
  return copySymbol(symbol, to, bytes, offset, false, nullptr);
}
