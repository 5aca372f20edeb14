// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and their properties, errors, and lookup of driver functions by name.
#include "SimDriver/CudaRuntime/Runtime.h"

#include <mutex>

using namespace tile::sim::cudart;

namespace {

thread_local int threadDevice = 0;
thread_local cudaError lastError = success;

/// The layout of cudaDeviceProp in CUDA 13.
struct DeviceProperties {
  char name[256];
  char uuid[16], luid[8];
  unsigned luidNodeMask;
  size_t globalBytes, sharedPerBlock;
  int registersPerBlock, warpSize;
  size_t memoryPitch;
  int maxThreadsPerBlock, maxThreads[3], maxGrid[3];
  size_t constantBytes;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiprocessors, isIntegrated, mapsHostMemory;
  int textureAndSurfaceLimits[38];
  size_t surfaceAlignment;
  int concurrentKernels, hasErrorCorrection, pciBus, pciDevice, pciDomain, isTcc, asyncEngines, unifiedAddressing,
      memoryBusBits, l2Bytes, persistingL2Bytes, maxThreadsPerMultiprocessor, streamPriorities, globalL1, localL1;
  size_t sharedPerMultiprocessor;
  int registersPerMultiprocessor, managedMemory, isMultiGpuBoard, boardGroup, hostAtomics, pageableAccess,
      concurrentManaged, preemption, hostPointers, cooperativeLaunch;
  size_t sharedOptIn;
  int pageTables, directManaged, maxBlocksPerMultiprocessor, accessPolicyBytes;
  size_t reservedShared;
  int hostRegister, sparseArrays, hostRegisterReadOnly, timelineSemaphores, memoryPools, directRdma;
  unsigned directRdmaFlush;
  int directRdmaOrdering;
  unsigned memoryPoolHandles;
  int deferredMapping, ipcEvents, clusterLaunch, unifiedFunctionPointers, numaConfig, numaId, mps, hostNumaId;
  unsigned pciDeviceId, pciSubsystemId;
  int multinodeIpc, reserved[56];
};

struct NamedError {
  cudaError number;
  const char *name, *text;
};
constexpr NamedError errors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "the simulator does not accept the PTX"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {719, "cudaErrorLaunchFailure", "the simulator has found a bug"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {904, "cudaErrorStreamCaptureUnjoined", "capture sequence contains an unjoined fork"},
    {999, "cudaErrorUnknown", "unknown error"}};

const NamedError *findError(cudaError number) {
  for (const NamedError &error : errors)
    if (error.number == number)
      return &error;
  return nullptr;
}

int attributeOf(int device, int attribute) {
  int value = 0;
  cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

} // namespace

cudaError tile::sim::cudart::prepare() {
  static const cudaError initialized = cuInit(0);
  CUcontext context = nullptr;
  if (initialized != success || (cuCtxGetCurrent(&context) == success && context))
    return initialized;
  if (const cudaError error = cuDevicePrimaryCtxRetain(&context, threadDevice))
    return error;
  return cuCtxSetCurrent(context);
}

cudaError tile::sim::cudart::keep(cudaError error) {
  if (error != success)
    lastError = error;
  return error;
}

int tile::sim::cudart::deviceOfThread() {
  int device = 0;
  return cuCtxGetDevice(&device) == success ? device : threadDevice;
}

EXPORT cudaError cudaGetLastError() {
  const cudaError last = lastError;
  lastError = success;
  return last;
}
EXPORT cudaError cudaPeekAtLastError() {
  return lastError;
}
EXPORT const char *cudaGetErrorName(cudaError error) {
  const NamedError *known = findError(error);
  return known ? known->name : "unrecognized error code";
}
EXPORT const char *cudaGetErrorString(cudaError error) {
  const NamedError *known = findError(error);
  return known ? known->text : "unrecognized error code";
}

EXPORT cudaError cudaGetDeviceCount(int *count) {
  return call([=] { return count ? cuDeviceGetCount(count) : invalidValue; });
}
EXPORT cudaError cudaGetDevice(int *device) {
  return call([=] {
    if (!device)
      return invalidValue;
    *device = deviceOfThread();
    return success;
  });
}
EXPORT cudaError cudaSetDevice(int device) {
  return call([=] {
    CUcontext context = nullptr;
    if (const cudaError error = cuDevicePrimaryCtxRetain(&context, device))
      return error;
    threadDevice = device;
    return cuCtxSetCurrent(context);
  });
}
EXPORT cudaError cudaInitDevice(int device, unsigned, unsigned) {
  return call([=] {
    CUcontext context = nullptr;
    return cuDevicePrimaryCtxRetain(&context, device);
  });
}
EXPORT cudaError cudaSetDeviceFlags(unsigned) {
  return success;
}
EXPORT cudaError cudaGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return success;
}
EXPORT cudaError cudaDeviceReset() {
  return success;
}
EXPORT cudaError cudaDeviceSynchronize() {
  return call([] { return cuCtxSynchronize(); });
}
EXPORT cudaError cudaDeviceSetCacheConfig(int) {
  return success;
}
EXPORT cudaError cudaDeviceSetLimit(int, size_t) {
  return success;
}
EXPORT cudaError cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return call([=] { return cuCtxGetStreamPriorityRange(least, greatest); });
}
EXPORT cudaError cudaDeviceGetAttribute(int *value, int attribute, int device) {
  return call([=] { return cuDeviceGetAttribute(value, attribute, device); });
}
EXPORT cudaError cudaDeviceGetPCIBusId(char *text, int length, int device) {
  return call([=] { return cuDeviceGetPCIBusId(text, length, device); });
}
EXPORT cudaError cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  return call([=] { return cuDeviceCanAccessPeer(can, device, peer); });
}
EXPORT cudaError cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([=] {
    CUcontext context = nullptr;
    const cudaError error = cuDevicePrimaryCtxRetain(&context, peer);
    return error == success ? cuCtxEnablePeerAccess(context, flags) : error;
  });
}
EXPORT cudaError cudaDeviceDisablePeerAccess(int peer) {
  return call([=] {
    CUcontext context = nullptr;
    const cudaError error = cuDevicePrimaryCtxRetain(&context, peer);
    return error == success ? cuCtxDisablePeerAccess(context) : error;
  });
}
EXPORT cudaError cudaDriverGetVersion(int *version) {
  return call([=] { return cuDriverGetVersion(version); });
}
EXPORT cudaError cudaRuntimeGetVersion(int *version) {
  if (!version)
    return keep(invalidValue);
  *version = 13000;
  return success;
}

EXPORT cudaError cudaGetDeviceProperties(DeviceProperties *properties, int device) {
  return call([=] {
    if (!properties)
      return invalidValue;
    *properties = {};
    if (const cudaError error = cuDeviceGetUuid_v2(properties->uuid, device))
      return error;
    const auto get = [=](int attribute) { return attributeOf(device, attribute); };
    cuDeviceGetName(properties->name, sizeof(properties->name), device);
    cuDeviceTotalMem_v2(&properties->globalBytes, device);
    // The indices are those of CUdevice_attribute (CUDA driver API).
    properties->sharedPerBlock = size_t(get(8));
    properties->registersPerBlock = get(12);
    properties->warpSize = get(10);
    properties->memoryPitch = size_t(get(11));
    properties->maxThreadsPerBlock = get(1);
    for (int i = 0; i < 3; ++i) {
      properties->maxThreads[i] = get(2 + i);
      properties->maxGrid[i] = get(5 + i);
    }
    properties->constantBytes = size_t(get(9));
    properties->major = get(75);
    properties->minor = get(76);
    properties->textureAlignment = size_t(get(14));
    properties->multiprocessors = get(16);
    properties->mapsHostMemory = get(19);
    properties->concurrentKernels = get(31);
    properties->pciDevice = get(34);
    properties->asyncEngines = get(40);
    properties->unifiedAddressing = get(41);
    properties->memoryBusBits = get(37);
    properties->l2Bytes = get(38);
    properties->maxThreadsPerMultiprocessor = get(39);
    properties->streamPriorities = get(78);
    properties->sharedPerMultiprocessor = size_t(get(81));
    properties->registersPerMultiprocessor = get(82);
    properties->cooperativeLaunch = get(95);
    properties->sharedOptIn = size_t(get(97));
    properties->maxBlocksPerMultiprocessor = get(106);
    properties->reservedShared = size_t(get(111));
    properties->memoryPools = get(115);
    properties->clusterLaunch = get(120);
    return success;
  });
}

/// `flags` selects variants for per-thread default streams. It has no effect, because all streams of the simulator are
/// synchronous.
EXPORT cudaError cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                                  unsigned long long flags, int *status) {
  return call([=] {
    int ignored = 0;
    return cuGetProcAddress_v2(symbol, function, int(version), flags, status ? status : &ignored);
  });
}
EXPORT cudaError cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags, int *status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 13000, flags, status);
}
