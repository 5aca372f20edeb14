// A CUDA driver in memory, handed to libtilert through its lookup: it records launches and can be told to fail.
#pragma once

#include "Runtime/Driver.h"

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace tile::test {

struct FakeLaunch {
  runtime::LaunchConfig config;
  std::vector<runtime::LaunchAttribute> attributes;
  std::vector<uint64_t> arguments; ///< zero-extended
};

/// One at a time: driver functions have no user pointer.
struct FakeDriver {
  int deviceCount = 2;
  int major = 9, minor = 0;
  int sharedOptin = 232448; // H200, bytes
  int staticShared = 0;
  int maxThreads = 1024;
  std::vector<size_t> argumentSizes; ///< of the kernel that the test launches
  std::string missingSymbol;
  runtime::CUresult moduleResult = 0, launchResult = 0, initResult = 0;
  runtime::CUcontext context = reinterpret_cast<runtime::CUcontext>(0x100);
  std::atomic<int> modulesLoaded = 0;
  int modulesUnloaded = 0;
  std::map<int, int> functionAttributes;
  std::vector<FakeLaunch> launches;

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
  std::strncpy(name, "fake", static_cast<size_t>(length));
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
inline CUresult loadModule(CUmodule *module, const void *, unsigned, int *, void **) {
  if (driver().moduleResult)
    return driver().moduleResult;
  *module = reinterpret_cast<CUmodule>(0x1000 + static_cast<uintptr_t>(++driver().modulesLoaded));
  return 0;
}
inline CUresult unloadModule(CUmodule) {
  ++driver().modulesUnloaded;
  return 0;
}
inline CUresult getFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(0x2000);
  return std::strcmp(name, "missing") == 0;
}
inline CUresult getFunctionAttribute(int *value, int attribute, CUfunction) {
  *value = attribute == cuda::functionSharedBytes ? driver().staticShared : driver().maxThreads;
  return 0;
}
inline CUresult setFunctionAttribute(CUfunction, int attribute, int value) {
  driver().functionAttributes[attribute] = value;
  return 0;
}
inline CUresult launch(const LaunchConfig *config, CUfunction, void **arguments, void **) {
  if (driver().launchResult)
    return driver().launchResult;
  FakeLaunch record{*config, {config->attributes, config->attributes + config->attributeCount}, {}};
  for (size_t i = 0; i < driver().argumentSizes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, arguments[i], driver().argumentSizes[i]);
    record.arguments.push_back(value);
  }
  driver().launches.push_back(std::move(record));
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
      {"cuFuncSetAttribute", reinterpret_cast<void *>(fake::setFunctionAttribute)},
      {"cuLaunchKernelEx", reinterpret_cast<void *>(fake::launch)}};
  const auto found = table.find(symbol);
  return found == table.end() || current()->missingSymbol == symbol ? nullptr : found->second;
}

} // namespace tile::test
