// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 whose devices are simulated: a program that loads the driver by name, as libtilert does, runs and is
// checked without a GPU and without a special build. There are several devices, which can access each other's memory.
//
//   LD_LIBRARY_PATH=build/simulator ./program
//
// It implements the functions that libtilert needs and that programs usually call: contexts, modules and launches here,
// memory in Memory.cpp, streams, events and captured graphs in Streams.cpp, and what devices exchange in Peers.cpp.
// Errors that the simulator finds in a kernel are printed and make the launch fail. Of the operations that the driver
// prohibits during stream capture, only waits and stream-ordered memory operations are rejected.
#include "SimDriver/EncodeTiled.h"
#include "SimDriver/State.h"

#include <algorithm>
#include <array>
#include <cstdio>

using namespace tile;
using namespace tile::runtime;
using namespace tile::sim;

namespace {

struct Context {
  int device = 0;
};
/// All contexts of a device share its memory, and all contexts the modules. Only incorrect programs can observe this.
std::array<Context, numDevices> primary = [] {
  std::array<Context, numDevices> all;
  for (int device = 0; device < numDevices; ++device)
    all[device].device = device;
  return all;
}();
std::vector<std::unique_ptr<Context>> contexts; ///< created by programs
/// Modules and functions live as long as the process, since there are few of them.
std::vector<std::unique_ptr<LoadedPtx>> modules;
std::vector<std::unique_ptr<LoadedFunction>> functions;

thread_local std::vector<CUcontext> stack; ///< the last one is current

CUcontext currentContext() {
  return stack.empty() ? nullptr : stack.back();
}

/// Returns true if `context` exists. The caller holds the mutex.
bool isContext(CUcontext context) {
  return deviceOf(context) >= 0;
}

bool isDevice(CUdevice device) {
  return device >= 0 && device < numDevices;
}

/// Returns true if `handle` refers to one of these objects. The caller holds the mutex.
template <typename T, typename Handle> bool isAmong(const std::vector<std::unique_ptr<T>> &all, Handle handle) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto &made) { return reinterpret_cast<Handle>(made.get()) == handle; });
}

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
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "no context is current, or there is no such context"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {peerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these devices"},
    {peerAccessEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {peerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {invalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {unknownError, "CUDA_ERROR_UNKNOWN", "unknown error"},
    {launchFailed, "CUDA_ERROR_LAUNCH_FAILED", "the simulator has found a bug"},
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

/// Writes the error log to the buffer that the caller passed, or else prints it. libtilert puts the log into its own
/// error message.
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
  std::fprintf(stderr, "simulator: %s\n", error.message.c_str());
  return number;
}

} // namespace

State &tile::sim::state() {
  static State shared;
  return shared;
}

int tile::sim::currentDevice() {
  // A context that is current has not been destroyed, or the program is wrong anyway.
  return stack.empty() || !stack.back() ? -1 : reinterpret_cast<Context *>(stack.back())->device;
}

int tile::sim::deviceOf(CUcontext context) {
  for (const Context &known : primary)
    if (reinterpret_cast<CUcontext>(const_cast<Context *>(&known)) == context)
      return known.device;
  for (const std::unique_ptr<Context> &made : contexts)
    if (reinterpret_cast<CUcontext>(made.get()) == context)
      return made->device;
  return -1;
}

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
  if (number == invalidValue && !lastMapError().empty())
    *text = lastMapError().c_str();
  return error ? success : invalidValue;
}
EXPORT CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return success;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
  *count = numDevices;
  return success;
}
EXPORT CUresult cuDeviceGet(CUdevice *result, int ordinal) {
  *result = ordinal;
  return isDevice(ordinal) ? success : cuda::errorInvalidDevice;
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::snprintf(name, static_cast<size_t>(length), "tile simulator");
  return success;
}
EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  std::snprintf(text, static_cast<size_t>(length), "0000:00:%02x.0", device);
  return success;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = deviceBytes;
  return success;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  // CUDA driver API, CUdevice_attribute. All other attributes of the simulator are 0.
  static constexpr struct {
    int attribute, value;
  } attributes[] = {{cuda::attributeMaxThreadsPerBlock, 1024},
                    {2, 1024}, // maximum threads per block along x, y and z
                    {3, 1024},
                    {4, 64},
                    {5, 2147483647}, // maximum blocks per grid along x, y and z
                    {6, 65535},
                    {7, 65535},
                    {8, 48 << 10}, // shared memory per block without opt-in
                    {10, 32},      // warp size
                    {12, 65536},   // registers per block
                    {cuda::attributeMultiprocessorCount, static_cast<int>(numMultiprocessors)},
                    {cuda::attributeL2Bytes, 50 << 20},
                    {39, 2048}, // threads per multiprocessor
                    {41, 1},    // unified addressing
                    {cuda::attributeComputeMajor, 9},
                    {81, static_cast<int>(sharedOfMultiprocessor)},
                    {82, 65536}, // registers per multiprocessor
                    {95, 1},     // cooperative launches
                    {cuda::attributeMaxSharedOptin, static_cast<int>(mostShared)},
                    {115, 1}}; // stream-ordered memory pools
  *value = 0;
  for (const auto &known : attributes)
    if (known.attribute == attribute)
      *value = known.value;
  return success;
}
EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice) {
  *major = 9, *minor = 0;
  return success;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (!isDevice(device))
    return cuda::errorInvalidDevice;
  *context = reinterpret_cast<CUcontext>(&primary[device]);
  return success;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return success;
}
EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice ordinal) {
  if (!isDevice(ordinal))
    return cuda::errorInvalidDevice;
  if (!context)
    return invalidValue;
  return locked([=] {
    auto made = std::make_unique<Context>(Context{ordinal});
    stack.push_back(reinterpret_cast<CUcontext>(made.get()));
    *context = stack.back();
    contexts.push_back(std::move(made));
    return success;
  });
}
EXPORT CUresult cuCtxCreate_v4(CUcontext *context, void *, unsigned flags, CUdevice ordinal) {
  return cuCtxCreate_v2(context, flags, ordinal);
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  const std::lock_guard lock(state().mutex);
  const auto isThis = [&](const auto &made) { return reinterpret_cast<CUcontext>(made.get()) == context; };
  const auto found = std::find_if(contexts.begin(), contexts.end(), isThis);
  if (found == contexts.end())
    return invalidContext;
  contexts.erase(found);
  if (currentContext() == context)
    stack.pop_back();
  return success;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return locked([=] {
    if (!isContext(context))
      return invalidContext;
    stack.push_back(context);
    return success;
  });
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (stack.empty())
    return invalidContext;
  if (context)
    *context = stack.back();
  stack.pop_back();
  return success;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = currentContext();
  return success;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return locked([=] {
    if (context && !isContext(context))
      return invalidContext;
    if (!stack.empty())
      stack.pop_back();
    if (context)
      stack.push_back(context);
    return success;
  });
}
EXPORT CUresult cuCtxGetDevice(CUdevice *result) {
  *result = std::max(0, currentDevice());
  return currentContext() ? success : invalidContext;
}
EXPORT CUresult cuCtxSynchronize() {
  return currentContext() ? success : invalidContext;
}
EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = 0;
  return success;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
  if (!module || !image)
    return invalidValue;
  return locked([=] {
    Result<std::unique_ptr<LoadedPtx>> loaded = loadPtx(image);
    if (!loaded) {
      writeLog(loaded.error().message, count, options, values);
      return invalidImage;
    }
    modules.push_back(std::move(*loaded));
    *module = reinterpret_cast<CUmodule>(modules.back().get());
    return success;
  });
}
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
EXPORT CUresult cuModuleUnload(CUmodule) {
  return success;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  if (!function || !name)
    return invalidValue;
  return locked([=] {
    if (!isAmong(modules, module))
      return invalidHandle;
    Result<std::unique_ptr<LoadedFunction>> found = findFunction(*reinterpret_cast<LoadedPtx *>(module), name);
    if (!found)
      return fail(notFound, found.error());
    functions.push_back(std::move(*found));
    *function = reinterpret_cast<CUfunction>(functions.back().get());
    return success;
  });
}
EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  if (!value || !function)
    return invalidValue;
  const auto &known = *reinterpret_cast<LoadedFunction *>(function);
  *value = attribute == cuda::functionMaxThreads    ? 1024
           : attribute == cuda::functionSharedBytes ? static_cast<int>(known.staticShared)
                                                    : 0;
  return success;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction, int, int) {
  return success;
}
EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  const std::vector<size_t> &bytes = reinterpret_cast<LoadedFunction *>(function)->parameterBytes;
  if (index >= bytes.size())
    return invalidValue;
  *offset = 0;
  for (size_t i = 0;; *offset += bytes[i++]) {
    // Tensor maps are aligned to 64 bytes, other parameters to their sizes.
    const size_t alignment = std::clamp<size_t>(bytes[i], 1, 64);
    *offset = (*offset + alignment - 1) / alignment * alignment;
    if (i == index)
      break;
  }
  *size = bytes[index];
  return success;
}
EXPORT CUresult cuFuncGetParamCount(CUfunction function, size_t *count) {
  *count = reinterpret_cast<LoadedFunction *>(function)->parameterBytes.size();
  return success;
}
/// Launches immediately, or records a step of the graph if the stream is being captured.
static CUresult launchOrKeep(const runtime::LaunchConfig &config, CUfunction function, void **arguments) {
  if (!isAmong(functions, function))
    return invalidHandle;
  const auto &known = *reinterpret_cast<LoadedFunction *>(function);
  const auto launch = [&known, device = currentDevice()](const runtime::LaunchConfig &config, void **arguments) {
    Status status = state().devices.launch(device, config, known, arguments);
    return status ? success : fail(launchFailed, status.error());
  };
  if (!state().captures.isCaptured(config.stream))
    return launch(config, arguments);
  std::vector<LaunchAttribute> attributes(config.attributes, config.attributes + config.attributeCount);
  std::vector<std::vector<std::byte>> bytes;
  for (size_t i = 0; i < known.parameterBytes.size(); ++i) {
    if (!arguments || !arguments[i])
      return invalidValue;
    const auto *value = static_cast<const std::byte *>(arguments[i]);
    bytes.emplace_back(value, value + known.parameterBytes[i]);
  }
  return state().captures.submit(config.stream, [launch, config = config, attributes, bytes]() mutable {
    std::vector<void *> addresses;
    for (std::vector<std::byte> &value : bytes)
      addresses.push_back(value.data());
    config.attributes = attributes.data();
    return launch(config, addresses.data());
  });
}
EXPORT CUresult cuLaunchKernelEx(const runtime::LaunchConfig *config, CUfunction function, void **arguments, void **) {
  if (!currentContext())
    return invalidContext;
  if (!config || config->gridX == 0 || config->gridY == 0 || config->gridZ == 0 ||
      (config->attributeCount && !config->attributes))
    return invalidValue;
  return locked([=] { return launchOrKeep(*config, function, arguments); });
}
EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                               void **arguments, void **extra) {
  if (!arguments && extra)
    return invalidValue; // parameters in one buffer are not supported
  const runtime::LaunchConfig config = {gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, arguments, nullptr);
}
EXPORT CUresult cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                       const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                       int interleave, int swizzle, int promotion, int fill) {
  return guarded([=] {
    return encodeTiled(map, type, rank, address, sizes, strides, box, elementStrides, interleave, swizzle, promotion,
                       fill);
  });
}
