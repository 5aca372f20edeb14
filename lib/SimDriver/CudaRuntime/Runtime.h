// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcudart.so.13 for programs that nvcc has compiled with `-cudart shared`. It implements the documented functions
// of the CUDA runtime API, and the functions that nvcc's code calls to register kernels and variables, on top of the
// simulated driver. NVIDIA's library asks the driver for undocumented tables, so it cannot run on the simulator.
//
// The types below have the layouts that the CUDA runtime API documents. Error codes are the same as the driver's.
#pragma once

#include "Runtime/Driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace tile::sim::cudart {

using cudaError = int;
using runtime::CUcontext;
using runtime::CUdeviceptr;
using runtime::CUevent;
using runtime::CUfunction;
using runtime::CUgraph;
using runtime::CUgraphExec;
using runtime::CUresult;
using runtime::CUstream;

constexpr cudaError success = 0, invalidValue = 1, invalidConfiguration = 9, invalidSymbol = 13,
                    insufficientDriver = 35, missingConfiguration = 52, invalidDeviceFunction = 98,
                    symbolNotFound = 500, notSupported = 801;

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// The layout of cudaLaunchConfig_t.
struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamicShared = 0;
  CUstream stream = nullptr;
  runtime::LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};

/// Sets the primary context of this thread's device current if the thread has no context. Initializes the driver.
cudaError prepare();
/// Stores an error for cudaGetLastError, and returns it.
cudaError keep(cudaError error);
/// Calls `work` after making sure that a context is current.
template <typename Function> cudaError call(Function &&work) {
  const cudaError ready = prepare();
  return keep(ready == success ? work() : ready);
}

/// Returns the kernel that a host function represents. Loads its library if necessary.
cudaError findKernel(const void *hostFunction, CUfunction &kernel);
/// Returns the address and size of a device variable, given the host variable that represents it.
cudaError findVariable(const void *hostVariable, CUdeviceptr &address, size_t &bytes);
int deviceOfThread();

} // namespace tile::sim::cudart

// The functions of the simulated driver that are not in Runtime/Driver.def.
extern "C" {
int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetUuid_v2(void *uuid, int device);
int cuDeviceGetPCIBusId(char *text, int length, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDriverGetVersion(int *version);
int cuDevicePrimaryCtxRetain(tile::runtime::CUcontext *context, int device);
int cuCtxGetCurrent(tile::runtime::CUcontext *context);
int cuCtxSetCurrent(tile::runtime::CUcontext context);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize();
int cuCtxGetStreamPriorityRange(int *least, int *greatest);
int cuCtxEnablePeerAccess(tile::runtime::CUcontext peer, unsigned flags);
int cuCtxDisablePeerAccess(tile::runtime::CUcontext peer);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags, int *status);
int cuLibraryLoadData(void **library, const void *image, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(tile::runtime::CUfunction *kernel, void *library, const char *name);
int cuLibraryGetGlobal(tile::runtime::CUdeviceptr *address, size_t *bytes, void *library, const char *name);
int cuFuncGetAttribute(int *value, int attribute, tile::runtime::CUfunction function);
int cuFuncSetAttribute(tile::runtime::CUfunction function, int attribute, int value);
int cuLaunchKernelEx(const tile::runtime::LaunchConfig *config, tile::runtime::CUfunction function, void **arguments,
                     void **extra);
int cuLaunchHostFunc(tile::runtime::CUstream stream, void (*function)(void *), void *data);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, tile::runtime::CUfunction function, int threads,
                                                         size_t dynamicShared, unsigned flags);
int cuOccupancyMaxActiveClusters(int *count, tile::runtime::CUfunction function,
                                 const tile::runtime::LaunchConfig *config);
int cuMemAlloc_v2(tile::runtime::CUdeviceptr *pointer, size_t bytes);
int cuMemAllocAsync(tile::runtime::CUdeviceptr *pointer, size_t bytes, tile::runtime::CUstream stream);
int cuMemFree_v2(tile::runtime::CUdeviceptr pointer);
int cuMemFreeAsync(tile::runtime::CUdeviceptr pointer, tile::runtime::CUstream stream);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemcpy(tile::runtime::CUdeviceptr to, tile::runtime::CUdeviceptr from, size_t bytes);
int cuMemcpyAsync(tile::runtime::CUdeviceptr to, tile::runtime::CUdeviceptr from, size_t bytes,
                  tile::runtime::CUstream stream);
int cuMemsetD8_v2(tile::runtime::CUdeviceptr to, unsigned char value, size_t bytes);
int cuMemsetD8Async(tile::runtime::CUdeviceptr to, unsigned char value, size_t bytes, tile::runtime::CUstream stream);
int cuPointerGetAttribute(void *value, int attribute, tile::runtime::CUdeviceptr pointer);
int cuStreamCreateWithPriority(tile::runtime::CUstream *stream, unsigned flags, int priority);
int cuStreamDestroy_v2(tile::runtime::CUstream stream);
int cuStreamSynchronize(tile::runtime::CUstream stream);
int cuStreamQuery(tile::runtime::CUstream stream);
int cuStreamWaitEvent(tile::runtime::CUstream stream, tile::runtime::CUevent event, unsigned flags);
int cuStreamIsCapturing(tile::runtime::CUstream stream, int *status);
int cuStreamBeginCapture_v2(tile::runtime::CUstream stream, int mode);
int cuStreamEndCapture(tile::runtime::CUstream stream, tile::runtime::CUgraph *graph);
int cuGraphInstantiateWithFlags(tile::runtime::CUgraphExec *executable, tile::runtime::CUgraph graph,
                                unsigned long long flags);
int cuGraphLaunch(tile::runtime::CUgraphExec executable, tile::runtime::CUstream stream);
int cuGraphExecDestroy(tile::runtime::CUgraphExec executable);
int cuGraphDestroy(tile::runtime::CUgraph graph);
int cuEventCreate(tile::runtime::CUevent *event, unsigned flags);
int cuEventDestroy_v2(tile::runtime::CUevent event);
int cuEventRecord(tile::runtime::CUevent event, tile::runtime::CUstream stream);
int cuEventQuery(tile::runtime::CUevent event);
int cuEventSynchronize(tile::runtime::CUevent event);
int cuEventElapsedTime(float *milliseconds, tile::runtime::CUevent start, tile::runtime::CUevent end);
}
