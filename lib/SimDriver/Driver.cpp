// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 whose devices are simulated. A program that loads the driver by name, as libtilert does, runs on it
// without a GPU and without a special build, and its kernels are checked. There are several devices, which can access
// each other's memory.
//
//   LD_LIBRARY_PATH=build/simulator ./program
//
// It implements the functions that libtilert needs and that programs usually call: errors and contexts in this file,
// devices in Attributes.cpp, modules, libraries and kernels in Modules.cpp, launches in Launch.cpp, memory in
// Memory.cpp, streams, events and captured graphs in Streams.cpp, peer access in Peers.cpp, and lookup by name in
// Entry.cpp. Settings.h lists the environment variables. If the simulator finds an error in a kernel, it prints the
// error and the launch fails. The driver prohibits several operations during stream capture; of these, only waits and
// stream-ordered memory operations are rejected here.
#include "SimDriver/EncodeTiled.h"
#include "SimDriver/State.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

using namespace tile;
using namespace tile::runtime;
using namespace tile::sim;

namespace {

struct Context {
  int device = 0;
};
/// All contexts of a device share its memory, and all contexts share the modules. Correct programs cannot observe this.
std::array<Context, numDevices> primary = [] {
  std::array<Context, numDevices> all;
  for (int device = 0; device < numDevices; ++device)
    all[device].device = device;
  return all;
}();
std::vector<std::unique_ptr<Context>> contexts; ///< contexts created by programs
thread_local std::vector<CUcontext> stack;      ///< the stack of current contexts; the last one is current

CUcontext currentContext() {
  return stack.empty() ? nullptr : stack.back();
}

/// Returns true if `context` exists. The caller holds the mutex.
bool isContext(CUcontext context) {
  return deviceOf(context) >= 0;
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
    {notInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {invalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {cuda::errorNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for the simulated device"},
    {invalidPtx, "CUDA_ERROR_INVALID_PTX", "the simulator does not accept the PTX"},
    {invalidSource, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {notSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
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

} // namespace

CUresult tile::sim::fail(CUresult number, const Error &error) {
  std::fprintf(stderr, "simulator: %s\n", error.message.c_str());
  return number;
}

State &tile::sim::state() {
  static State shared;
  return shared;
}

int tile::sim::currentDevice() {
  // The context exists, unless the program has destroyed it, which is an error in the program.
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
  return locked([] {
    Result<Settings> settings =
        Settings::read(std::getenv("TILE_SIM_DEVICE"), std::getenv("TILE_SIM_CHECK"), std::getenv("TILE_SIM_ORDER"));
    if (!settings)
      return fail(invalidValue, settings.error());
    state().devices.settings = *settings;
    return success;
  });
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
  if (!currentContext())
    return invalidContext;
  const std::lock_guard lock(state().mutex);
  state().order.synchronizeDevice(currentDevice());
  return success;
}
EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = 0;
  return success;
}
