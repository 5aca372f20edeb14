// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 whose only device is the simulator: a program that loads the driver by name, as libtilert does, runs
// and is checked without a GPU, and without being built for that.
//
//   LD_LIBRARY_PATH=build/simulator ./program
//
// It has what libtilert and programs with streams, events and captured graphs need. What the simulator reports of a
// kernel is printed, and makes the launch fail; what the driver prohibits while a stream is captured, but for waiting,
// is not noticed.
#include "SimDriver/Capture.h"
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

constexpr CUresult success = cuda::success, invalidValue = cuda::errorInvalidValue, outOfMemory = 2,
                   invalidImage = cuda::errorInvalidImage, noContext = 201, notFound = 500, launchFailed = 719,
                   captureUnsupported = 900, capturedEvent = 907;

std::mutex mutex; ///< of all that follows
sim::SimulatedDevice device;
sim::Captures captures;
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
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {launchFailed, "CUDA_ERROR_LAUNCH_FAILED", "the simulator has found a mistake"},
    {captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "the wait would merge two captures"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was begun in another stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a captured stream was not joined to the one where capture began"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "a captured stream cannot wait for work that is not captured"},
    {capturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded while capturing"},
};

const NumberedError *findError(CUresult number) {
  for (const NumberedError &error : errors)
    if (error.number == number)
      return &error;
  return nullptr;
}

/// What a program asks for and libtilert puts into its own message is not printed.
void writeLog(const std::string &text, unsigned count, const int *options, void *const *values) {
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == cuda::jitErrorLog)
      log = static_cast<char *>(values[i]);
    else if (options[i] == cuda::jitErrorLogBytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  if (log && bytes > 0)
    std::snprintf(log, bytes, "%s", text.c_str());
  else
    std::fprintf(stderr, "simulator: %s\n", text.c_str());
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

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
  const std::lock_guard lock(mutex);
  Result<std::unique_ptr<sim::LoadedPtx>> loaded = sim::loadPtx(image);
  if (!loaded) {
    writeLog(loaded.error().message, count, options, values);
    return invalidImage;
  }
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
EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  const std::vector<size_t> &bytes = reinterpret_cast<sim::LoadedFunction *>(function)->parameterBytes;
  if (index >= bytes.size())
    return invalidValue;
  *offset = 0;
  for (size_t i = 0;; *offset += bytes[i++]) {
    const size_t alignment = std::min<size_t>(bytes[i], 64); // of a tensor map; others have that of their size
    *offset = (*offset + alignment - 1) / alignment * alignment;
    if (i == index)
      break;
  }
  *size = bytes[index];
  return success;
}
EXPORT CUresult cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **arguments, void **) {
  if (!current)
    return noContext;
  if (config->gridX == 0 || config->gridY == 0 || config->gridZ == 0)
    return invalidValue;
  const std::lock_guard lock(mutex);
  const auto &known = *reinterpret_cast<sim::LoadedFunction *>(function);
  const auto launch = [&known](const LaunchConfig &config, void **arguments) {
    Status status = device.launch(config, known, arguments);
    return status ? success : fail(launchFailed, status.error());
  };
  if (!captures.isCaptured(config->stream))
    return launch(*config, arguments);
  std::vector<LaunchAttribute> attributes(config->attributes, config->attributes + config->attributeCount);
  std::vector<std::vector<std::byte>> bytes;
  for (size_t i = 0; i < known.parameterBytes.size(); ++i) {
    const auto *value = static_cast<const std::byte *>(arguments[i]);
    bytes.emplace_back(value, value + known.parameterBytes[i]);
  }
  return captures.submit(config->stream, [launch, config = *config, attributes, bytes]() mutable {
    std::vector<void *> addresses;
    for (std::vector<std::byte> &value : bytes)
      addresses.push_back(value.data());
    config.attributes = attributes.data();
    return launch(config, addresses.data());
  });
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

namespace {

CUresult toDevice(CUdeviceptr to, const void *from, size_t bytes) {
  std::byte *target = device.find(to, bytes);
  if (!target)
    return invalidValue;
  std::memcpy(target, from, bytes);
  return success;
}

CUresult toHost(void *to, CUdeviceptr from, size_t bytes) {
  const std::byte *source = device.find(from, bytes);
  if (!source)
    return invalidValue;
  std::memcpy(to, source, bytes);
  return success;
}

CUresult onDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  std::byte *target = device.find(to, bytes);
  const std::byte *source = device.find(from, bytes);
  if (!target || !source)
    return invalidValue;
  std::memmove(target, source, bytes);
  return success;
}

CUresult fill(CUdeviceptr to, unsigned char value, size_t bytes) {
  std::byte *target = device.find(to, bytes);
  if (!target)
    return invalidValue;
  std::memset(target, value, bytes);
  return success;
}

CUresult submit(CUstream stream, sim::Work work) {
  const std::lock_guard lock(mutex);
  return captures.submit(stream, std::move(work));
}

} // namespace

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  const std::lock_guard lock(mutex);
  return toDevice(to, from, bytes);
}
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  const std::lock_guard lock(mutex);
  return toHost(to, from, bytes);
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
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  return submit(stream, [=] { return fill(to, value, bytes); });
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned) {
  static std::atomic<uintptr_t> count = 0;
  *stream = reinterpret_cast<CUstream>(0x1000 + 16 * count++);
  return success;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream) {
  return success;
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const std::lock_guard lock(mutex);
  return captures.isCaptured(stream) ? captureUnsupported : success;
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  const std::lock_guard lock(mutex);
  return captures.wait(stream, event);
}
EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  const std::lock_guard lock(mutex);
  *status = captures.isCaptured(stream) ? cuda::captureActive : cuda::captureNone;
  return success;
}
EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  const std::lock_guard lock(mutex);
  return captures.begin(stream);
}
EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *result) {
  const std::lock_guard lock(mutex);
  std::unique_ptr<sim::Graph> graph;
  const CUresult status = captures.end(stream, graph);
  *result = reinterpret_cast<CUgraph>(graph.release());
  return status;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long) {
  *executable = reinterpret_cast<CUgraphExec>(new sim::Graph(*reinterpret_cast<sim::Graph *>(graph)));
  return success;
}
EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return submit(stream, [steps = *reinterpret_cast<sim::Graph *>(executable)] {
    for (const sim::Work &step : steps)
      if (const CUresult result = step(); result != success)
        return result;
    return success;
  });
}
EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete reinterpret_cast<sim::Graph *>(executable);
  return success;
}
EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<sim::Graph *>(graph);
  return success;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new double(0));
  return success;
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  const std::lock_guard lock(mutex);
  captures.forget(event);
  delete reinterpret_cast<double *>(event);
  return success;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  const std::lock_guard lock(mutex);
  if (!captures.record(event, stream))
    *reinterpret_cast<double *>(event) = milliseconds();
  return success;
}
EXPORT CUresult cuEventQuery(CUevent event) {
  const std::lock_guard lock(mutex);
  return captures.isCaptured(event) ? capturedEvent : success;
}
EXPORT CUresult cuEventSynchronize(CUevent event) {
  return cuEventQuery(event);
}
EXPORT CUresult cuEventElapsedTime(float *elapsed, CUevent start, CUevent end) {
  *elapsed = static_cast<float>(*reinterpret_cast<double *>(end) - *reinterpret_cast<double *>(start));
  return success;
}
