// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mock CUDA driver in memory, passed to libtilert through its lookup. It records launches and can be made to fail.
#pragma once

#include "Runtime/Driver.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace tile::test {

/// Allocations of the calling thread; counted by LaunchTest.cpp.
extern thread_local uint64_t allocations;

/// The driver's arguments for a tensor map, stored in the 128 bytes of the map.
struct FakeTensorMap {
  uint64_t base;
  uint64_t sizes[5], strides[4];
  uint32_t box[5];
  int type, swizzle, promotion;
  unsigned rank;
};
static_assert(sizeof(FakeTensorMap) <= sizeof(runtime::TensorMap));

struct FakeLaunch {
  runtime::LaunchConfig config;
  std::vector<runtime::LaunchAttribute> attributes;
  std::vector<uint64_t> arguments; ///< zero-extended; of a tensor map its first eight bytes
  std::vector<FakeTensorMap> maps;
  std::string image; ///< the first bytes of the module
};

/// Device memory that was allocated, and how it was used.
struct FakeMemory {
  size_t bytes = 0;
  runtime::CUcontext context = nullptr;
  runtime::CUstream clearedIn = nullptr; ///< the stream in which all of it was filled with zeros
  bool isCleared = false, isFreed = false;
};

/// The driver's information about addresses: CUmemorytype, device, and the number of bytes from an address on.
struct FakeRange {
  size_t bytes = 0;
  unsigned type = 2;
  int device = 0;
};

/// Only one instance at a time, because driver functions have no user pointer.
struct FakeDriver {
  int deviceCount = 2;
  int major = 9, minor = 0;
  int sharedOptin = 232448; // H200, bytes
  int staticShared = 0;
  int maxThreads = 1024;
  /// parameters of the code, as returned by cuFuncGetParamInfo; empty: not supported
  std::vector<size_t> parameterBytes;
  bool canCountParameters = false;
  int refusedParameters = 0;
  std::vector<size_t> argumentSizes; ///< of the kernel that the test launches
  std::string missingSymbol;
  bool takesPtxAlone = false; ///< accept images that begin with "PTX"
  runtime::CUresult moduleResult = 0, launchResult = 0, initResult = 0;
  runtime::CUcontext context = reinterpret_cast<runtime::CUcontext>(0x100);
  std::atomic<int> modulesLoaded = 0;
  int modulesUnloaded = 0;
  std::map<int, int> functionAttributes;
  std::vector<FakeLaunch> launches;
  bool isRecording = true;
  std::atomic<int> launchCount = 0;
  std::vector<std::string> images; ///< the first bytes of the modules, in loading order, if recording
  std::string name = "fake";
  int version = 12080;
  runtime::CUresult encodeResult = 0;
  std::atomic<int> mapsEncoded = 0;
  std::map<runtime::CUdeviceptr, FakeMemory> memory;
  std::map<runtime::CUdeviceptr, FakeRange> ranges;
  runtime::CUresult allocateResult = 0, fillResult = 0, capturingResult = 0;
  runtime::CUstream captured = reinterpret_cast<runtime::CUstream>(~uintptr_t{0}); ///< no stream is being captured
  int captureMode = 0; ///< capture mode of the threads; allocations require 2, relaxed

  static FakeDriver *&current() {
    static FakeDriver *driver = nullptr;
    return driver;
  }
  FakeDriver() { current() = this; }
  ~FakeDriver() { current() = nullptr; }
  static void *lookup(void *user, const char *symbol);
};

namespace fake {

using namespace runtime;
inline FakeDriver &driver() {
  return *FakeDriver::current();
}

inline CUresult init(unsigned) {
  return driver().initResult;
}
inline CUresult errorName(CUresult error, const char **name) {
  *name = error == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_OTHER";
  return 0;
}
inline CUresult errorString(CUresult, const char **text) {
  *text = "fake failure";
  return 0;
}
inline CUresult deviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return 0;
}
inline CUresult deviceCount(int *count) {
  *count = driver().deviceCount;
  return 0;
}
inline CUresult deviceName(char *name, int length, CUdevice) {
  std::strncpy(name, driver().name.c_str(), static_cast<size_t>(length));
  return 0;
}
inline CUresult driverVersion(int *version) {
  *version = driver().version;
  return 0;
}
inline CUresult deviceAttribute(int *value, int attribute, CUdevice) {
  const std::map<int, int> values = {{cuda::attributeComputeMajor, driver().major},
                                     {cuda::attributeComputeMinor, driver().minor},
                                     {cuda::attributeMaxSharedOptin, driver().sharedOptin},
                                     {cuda::attributeMultiprocessorCount, 132}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return found == values.end();
}
inline CUresult retain(CUcontext *context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(0x100 + static_cast<uintptr_t>(device));
  return 0;
}
inline CUresult release(CUdevice) {
  return 0;
}
inline CUresult getCurrent(CUcontext *context) {
  *context = driver().context;
  return 0;
}
inline CUresult setCurrent(CUcontext context) {
  driver().context = context;
  return 0;
}
inline CUresult contextDevice(CUdevice *device) {
  *device = 0;
  return 0;
}
inline CUresult loadModule(CUmodule *module, const void *image, unsigned, int *, void **) {
  if (driver().moduleResult)
    return driver().moduleResult;
  if (driver().takesPtxAlone && std::strncmp(static_cast<const char *>(image), "PTX", 3) != 0)
    return cuda::errorInvalidImage;
  *module = reinterpret_cast<CUmodule>(0x1000 + static_cast<uintptr_t>(++driver().modulesLoaded));
  const char *text = static_cast<const char *>(image);
  if (driver().isRecording)
    driver().images.emplace_back(text, strnlen(text, 64));
  return 0;
}
inline CUresult unloadModule(CUmodule) {
  ++driver().modulesUnloaded;
  return 0;
}
inline CUresult getFunction(CUfunction *function, CUmodule module, const char *name) {
  *function = reinterpret_cast<CUfunction>(module);
  return std::strcmp(name, "missing") == 0;
}
inline CUresult getFunctionAttribute(int *value, int attribute, CUfunction) {
  *value = attribute == cuda::functionSharedBytes ? driver().staticShared : driver().maxThreads;
  return 0;
}
inline CUresult getParameter(CUfunction, size_t index, size_t *offset, size_t *size) {
  const std::vector<size_t> &bytes = driver().parameterBytes;
  if (index >= bytes.size()) {
    ++driver().refusedParameters;
    return bytes.empty() ? 801 : cuda::errorInvalidValue;
  }
  *offset = 0;
  *size = bytes[index];
  return 0;
}
inline CUresult countParameters(CUfunction, size_t *count) {
  *count = driver().parameterBytes.size();
  return driver().canCountParameters ? 0 : 801;
}
inline CUresult setFunctionAttribute(CUfunction, int attribute, int value) {
  driver().functionAttributes[attribute] = value;
  return 0;
}
inline CUresult launch(const LaunchConfig *config, CUfunction function, void **arguments, void **) {
  if (driver().launchResult)
    return driver().launchResult;
  if (!driver().isRecording)
    return ++driver().launchCount, 0;
  FakeLaunch record{*config, {config->attributes, config->attributes + config->attributeCount}, {}, {}, {}};
  if (const size_t module = reinterpret_cast<uintptr_t>(function) - 0x1001; module < driver().images.size())
    record.image = driver().images[module];
  for (size_t i = 0; i < driver().argumentSizes.size(); ++i) {
    const size_t size = driver().argumentSizes[i];
    uint64_t value = 0;
    std::memcpy(&value, arguments[i], std::min(size, sizeof(value)));
    record.arguments.push_back(value);
    if (size != sizeof(TensorMap))
      continue;
    if (reinterpret_cast<uintptr_t>(arguments[i]) % alignof(TensorMap) != 0)
      return 1;
    std::memcpy(&record.maps.emplace_back(), arguments[i], sizeof(FakeTensorMap));
  }
  driver().launches.push_back(std::move(record));
  return 0;
}

inline CUresult encode(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides, int interleave,
                       int swizzle, int promotion, int fill) {
  ++driver().mapsEncoded;
  FakeTensorMap fake = {};
  fake.base = reinterpret_cast<uint64_t>(address);
  fake.type = type;
  fake.swizzle = swizzle;
  fake.promotion = promotion;
  fake.rank = rank;
  for (unsigned dim = 0; dim < rank; ++dim) {
    fake.sizes[dim] = sizes[dim];
    fake.box[dim] = box[dim];
    if (dim > 0)
      fake.strides[dim - 1] = strides[dim - 1];
    // Arguments that the real driver rejects.
    if (sizes[dim] == 0 || elementStrides[dim] != 1 || (dim > 0 && (strides[dim - 1] == 0 || strides[dim - 1] % 16)))
      return 1;
  }
  std::memcpy(map, &fake, sizeof(fake));
  return interleave != 0 || fill != 0 ? 1 : driver().encodeResult;
}

inline CUresult allocate(CUdeviceptr *pointer, size_t bytes) {
  if (driver().allocateResult || driver().captureMode != cuda::captureRelaxed)
    return driver().allocateResult ? driver().allocateResult : 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  *pointer = 0x700000000 + 0x10000 * driver().memory.size();
  driver().memory[*pointer] = {bytes, driver().context};
  return 0;
}
inline CUresult free(CUdeviceptr pointer) {
  const auto found = driver().memory.find(pointer);
  if (found == driver().memory.end() || found->second.isFreed || found->second.context != driver().context)
    return 1;
  found->second.isFreed = true;
  return 0;
}
inline CUresult fill(CUdeviceptr pointer, unsigned char value, size_t bytes, CUstream stream) {
  FakeMemory &memory = driver().memory.at(pointer);
  memory.isCleared = value == 0 && bytes == memory.bytes;
  memory.clearedIn = stream;
  return driver().fillResult;
}
inline CUresult pointerAttribute(void *value, int attribute, CUdeviceptr pointer) {
  auto found = driver().ranges.upper_bound(pointer);
  if (found == driver().ranges.begin() || pointer - (--found)->first >= found->second.bytes)
    return 1;
  const auto give = [&](const auto &answer) {
    std::memcpy(value, &answer, sizeof(answer));
    return 0;
  };
  switch (attribute) { // CUpointer_attribute
  case 2:
    return give(found->second.type);
  case 9:
    return give(found->second.device);
  case 11:
    return give(found->first);
  case 12:
    return give(found->second.bytes);
  }
  return 1;
}
inline CUresult isCapturing(CUstream stream, int *status) {
  *status = stream == driver().captured;
  return driver().capturingResult;
}
inline CUresult exchangeCaptureMode(int *mode) {
  std::swap(*mode, driver().captureMode);
  return 0;
}

} // namespace fake

inline void *FakeDriver::lookup(void *, const char *symbol) {
  const std::map<std::string, void *> table = {
      {"cuInit", reinterpret_cast<void *>(fake::init)},
      {"cuGetErrorName", reinterpret_cast<void *>(fake::errorName)},
      {"cuGetErrorString", reinterpret_cast<void *>(fake::errorString)},
      {"cuDeviceGet", reinterpret_cast<void *>(fake::deviceGet)},
      {"cuDeviceGetCount", reinterpret_cast<void *>(fake::deviceCount)},
      {"cuDeviceGetName", reinterpret_cast<void *>(fake::deviceName)},
      {"cuDriverGetVersion", reinterpret_cast<void *>(fake::driverVersion)},
      {"cuDeviceGetAttribute", reinterpret_cast<void *>(fake::deviceAttribute)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(fake::retain)},
      {"cuDevicePrimaryCtxRelease_v2", reinterpret_cast<void *>(fake::release)},
      {"cuCtxGetCurrent", reinterpret_cast<void *>(fake::getCurrent)},
      {"cuCtxSetCurrent", reinterpret_cast<void *>(fake::setCurrent)},
      {"cuCtxGetDevice", reinterpret_cast<void *>(fake::contextDevice)},
      {"cuModuleLoadDataEx", reinterpret_cast<void *>(fake::loadModule)},
      {"cuModuleUnload", reinterpret_cast<void *>(fake::unloadModule)},
      {"cuModuleGetFunction", reinterpret_cast<void *>(fake::getFunction)},
      {"cuFuncGetAttribute", reinterpret_cast<void *>(fake::getFunctionAttribute)},
      {"cuFuncGetParamInfo", reinterpret_cast<void *>(fake::getParameter)},
      {"cuFuncGetParamCount", reinterpret_cast<void *>(fake::countParameters)},
      {"cuFuncSetAttribute", reinterpret_cast<void *>(fake::setFunctionAttribute)},
      {"cuLaunchKernelEx", reinterpret_cast<void *>(fake::launch)},
      {"cuTensorMapEncodeTiled", reinterpret_cast<void *>(fake::encode)},
      {"cuMemAlloc_v2", reinterpret_cast<void *>(fake::allocate)},
      {"cuMemFree_v2", reinterpret_cast<void *>(fake::free)},
      {"cuMemsetD8Async", reinterpret_cast<void *>(fake::fill)},
      {"cuPointerGetAttribute", reinterpret_cast<void *>(fake::pointerAttribute)},
      {"cuStreamIsCapturing", reinterpret_cast<void *>(fake::isCapturing)},
      {"cuThreadExchangeStreamCaptureMode", reinterpret_cast<void *>(fake::exchangeCaptureMode)}};
  const auto found = table.find(symbol);
  return found == table.end() || current()->missingSymbol == symbol ? nullptr : found->second;
}

} // namespace tile::test
