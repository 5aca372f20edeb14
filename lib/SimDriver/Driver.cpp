// A libcuda.so.1 whose only device is the simulator: a program that loads the driver by name, as libtilert does, runs
// and is checked without a GPU, and without being built for that.
//
//   LD_LIBRARY_PATH=build/simulator ./program
//
// It has what libtilert and programs with streams and events need; no graphs. What the simulator reports of a kernel
// is printed, and makes the launch fail.
#include "SimDriver/Device.h"
#include "SimDriver/EncodeTiled.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace tile;
using namespace tile::runtime;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr CUresult success = cuda::success, invalidValue = 1, outOfMemory = 2, invalidImage = 200, noContext = 201,
                   notFound = 500, launchFailed = 719;

std::mutex mutex; ///< of all that follows
sim::SimulatedDevice device;
/// Modules and functions live as long as the process: there are few.
std::vector<std::unique_ptr<sim::LoadedPtx>> modules;
std::vector<std::unique_ptr<sim::LoadedFunction>> functions;
std::string explanation; ///< of the last error

thread_local CUcontext current = nullptr;

struct NumberedError {
  CUresult number;
  const char *name, *text;
};
constexpr NumberedError errors[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cuda::errorInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidImage, "CUDA_ERROR_INVALID_IMAGE", "not an image for the simulator"},
    {noContext, "CUDA_ERROR_INVALID_CONTEXT", "no context is current"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {launchFailed, "CUDA_ERROR_LAUNCH_FAILED", "the simulator has found a mistake"},
};

const NumberedError *findError(CUresult number) {
  for (const NumberedError &error : errors)
    if (error.number == number)
      return &error;
  return nullptr;
}

CUresult fail(CUresult number, const Error &error) {
  explanation = error.message;
  std::fprintf(stderr, "simulator: %s\n", explanation.c_str());
  return number;
}

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

EXPORT CUresult cuInit(unsigned) {
  return success;
}
EXPORT CUresult cuGetErrorName(CUresult number, const char **name) {
  const NumberedError *error = findError(number);
  *name = error ? error->name : nullptr;
  return error ? success : invalidValue;
}
EXPORT CUresult cuGetErrorString(CUresult number, const char **text) {
  const NumberedError *error = findError(number);
  *text = error ? error->text : nullptr;
  if (number == invalidValue && !sim::lastMapError().empty())
    *text = sim::lastMapError().c_str();
  return error ? success : invalidValue;
}
EXPORT CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return success;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return success;
}
EXPORT CUresult cuDeviceGet(CUdevice *result, int ordinal) {
  *result = ordinal;
  return ordinal == 0 ? success : cuda::errorInvalidDevice;
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::snprintf(name, static_cast<size_t>(length), "tile simulator");
  return success;
}
EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice) {
  std::snprintf(text, static_cast<size_t>(length), "0000:00:00.0");
  return success;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = size_t(8) << 30;
  return success;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  switch (attribute) {
  case cuda::attributeComputeMajor:
    *value = 9;
    return success;
  case cuda::attributeMultiprocessorCount:
    *value = sim::numMultiprocessors;
    return success;
  case cuda::attributeMaxSharedOptin:
    *value = sim::mostShared;
    return success;
  case cuda::attributeMaxThreadsPerBlock:
    *value = 1024;
    return success;
  case cuda::attributeL2Bytes:
    *value = 50 << 20;
    return success;
  default:
    *value = 0;
    return success;
  }
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&device);
  return success;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return success;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = current;
  return success;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return success;
}
EXPORT CUresult cuCtxGetDevice(CUdevice *result) {
  *result = 0;
  return current ? success : noContext;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) {
  const std::lock_guard lock(mutex);
  Result<std::unique_ptr<sim::LoadedPtx>> loaded = sim::loadPtx(image);
  if (!loaded)
    return fail(invalidImage, loaded.error());
  modules.push_back(std::move(*loaded));
  *module = reinterpret_cast<CUmodule>(modules.back().get());
  return success;
}
EXPORT CUresult cuModuleUnload(CUmodule) {
  return success;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  const std::lock_guard lock(mutex);
  Result<std::unique_ptr<sim::LoadedFunction>> found =
      sim::findFunction(*reinterpret_cast<sim::LoadedPtx *>(module), name);
  if (!found)
    return fail(notFound, found.error());
  functions.push_back(std::move(*found));
  *function = reinterpret_cast<CUfunction>(functions.back().get());
  return success;
}
EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  const auto &known = *reinterpret_cast<sim::LoadedFunction *>(function);
  *value = attribute == cuda::functionMaxThreads    ? 1024
           : attribute == cuda::functionSharedBytes ? static_cast<int>(known.staticShared)
                                                    : 0;
  return success;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction, int, int) {
  return success;
}
EXPORT CUresult cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **arguments, void **) {
  if (!current)
    return noContext;
  if (config->gridX == 0 || config->gridY == 0 || config->gridZ == 0)
    return invalidValue;
  const std::lock_guard lock(mutex);
  Status status = device.launch(*config, *reinterpret_cast<sim::LoadedFunction *>(function), arguments);
  return status ? success : fail(launchFailed, status.error());
}
EXPORT CUresult cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                       const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                       int interleave, int swizzle, int promotion, int fill) {
  return sim::encodeTiled(map, type, rank, address, sizes, strides, box, elementStrides, interleave, swizzle, promotion,
                          fill);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  if (bytes == 0)
    return invalidValue;
  const std::lock_guard lock(mutex);
  *pointer = device.allocate(bytes);
  return *pointer ? success : outOfMemory;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
  const std::lock_guard lock(mutex);
  return pointer == 0 || device.release(pointer) ? success : invalidValue;
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  const std::lock_guard lock(mutex);
  std::byte *target = device.find(to, bytes);
  if (!target)
    return invalidValue;
  std::memcpy(target, from, bytes);
  return success;
}
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  const std::lock_guard lock(mutex);
  const std::byte *source = device.find(from, bytes);
  if (!source)
    return invalidValue;
  std::memcpy(to, source, bytes);
  return success;
}
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  const std::lock_guard lock(mutex);
  std::byte *target = device.find(to, bytes);
  const std::byte *source = device.find(from, bytes);
  if (!target || !source)
    return invalidValue;
  std::memmove(target, source, bytes);
  return success;
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
  const std::lock_guard lock(mutex);
  std::byte *target = device.find(to, bytes);
  if (!target)
    return invalidValue;
  std::memset(target, value, bytes);
  return success;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned) {
  static std::atomic<uintptr_t> count = 0;
  *stream = reinterpret_cast<CUstream>(0x1000 + 16 * count++);
  return success;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream) {
  return success;
}
EXPORT CUresult cuStreamSynchronize(CUstream) {
  return success;
}
EXPORT CUresult cuStreamIsCapturing(CUstream, int *status) {
  *status = cuda::captureNone;
  return success;
}
EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new double(0));
  return success;
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<double *>(event);
  return success;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<double *>(event) = milliseconds();
  return success;
}
EXPORT CUresult cuEventQuery(CUevent) {
  return success;
}
EXPORT CUresult cuEventSynchronize(CUevent) {
  return success;
}
EXPORT CUresult cuEventElapsedTime(float *elapsed, CUevent start, CUevent end) {
  *elapsed = static_cast<float>(*reinterpret_cast<double *>(end) - *reinterpret_cast<double *>(start));
  return success;
}
