// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels: function attributes, launches and occupancy.
#include "SimDriver/CudaRuntime/Runtime.h"

#include <climits>

using namespace tile::sim::cudart;

namespace {

/// The layout of cudaFuncAttributes.
struct FunctionAttributes {
  size_t sharedBytes, constantBytes, localBytes;
  int maxThreadsPerBlock, registers, ptxVersion, binaryVersion, cachesGlobals, maxDynamicShared, carveout,
      clusterMustBeSet, requiredWidth, requiredHeight, requiredDepth, schedulingPolicy, nonPortableAllowed;
  int reserved[16];
};
static_assert(sizeof(FunctionAttributes) == 144);

/// The values of CUfunction_attribute, in order.
enum DriverAttribute : int {
  MaxThreads,
  SharedBytes,
  ConstantBytes,
  LocalBytes,
  Registers,
  PtxVersion,
  BinaryVersion,
  CachesGlobals,
  MaxDynamicShared,
  Carveout,
  ClusterMustBeSet,
  RequiredWidth,
  RequiredHeight,
  RequiredDepth,
  NonPortableAllowed,
  SchedulingPolicy
};

cudaError describe(const LaunchConfig &config, tile::runtime::LaunchConfig &driver) {
  if (config.dynamicShared > UINT_MAX)
    return invalidValue;
  if (config.grid.x == 0 || config.grid.y == 0 || config.grid.z == 0 || config.block.x == 0 || config.block.y == 0 ||
      config.block.z == 0)
    return invalidConfiguration;
  driver = {config.grid.x,
            config.grid.y,
            config.grid.z,
            config.block.x,
            config.block.y,
            config.block.z,
            unsigned(config.dynamicShared),
            config.stream,
            config.attributes,
            config.attributeCount};
  return success;
}

cudaError launch(const LaunchConfig &config, CUfunction kernel, void **arguments) {
  tile::runtime::LaunchConfig driver;
  const cudaError described = describe(config, driver);
  return described == success ? cuLaunchKernelEx(&driver, kernel, arguments, nullptr) : described;
}

/// Returns the kernel for a host function. A kernel handle may be passed instead of a host function (CUDA runtime API,
/// cudaGetKernel).
cudaError findEither(const void *function, CUfunction &kernel) {
  const cudaError error = findKernel(function, kernel);
  int ignored = 0;
  if (error != invalidDeviceFunction ||
      cuFuncGetAttribute(&ignored, MaxThreads, static_cast<CUfunction>(const_cast<void *>(function))) != success)
    return error;
  kernel = static_cast<CUfunction>(const_cast<void *>(function));
  return success;
}

} // namespace

EXPORT cudaError __cudaGetKernel(CUfunction *kernel, const void *function) {
  return call([=] { return findKernel(function, *kernel); });
}
EXPORT cudaError cudaGetKernel(CUfunction *kernel, const void *function) {
  return __cudaGetKernel(kernel, function);
}
EXPORT cudaError cudaGetFuncBySymbol(CUfunction *kernel, const void *function) {
  return __cudaGetKernel(kernel, function);
}
EXPORT cudaError __cudaLaunchKernel(CUfunction kernel, Dim3 grid, Dim3 block, void **arguments, size_t dynamicShared,
                                    CUstream stream) {
  return call([=] { return launch({grid, block, dynamicShared, stream, nullptr, 0}, kernel, arguments); });
}
EXPORT cudaError cudaLaunchKernelExC(const LaunchConfig *config, const void *function, void **arguments) {
  return call([=] {
    CUfunction kernel = nullptr;
    const cudaError error = config ? findEither(function, kernel) : invalidValue;
    return error == success ? launch(*config, kernel, arguments) : error;
  });
}
EXPORT cudaError cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t dynamicShared,
                                  CUstream stream) {
  const LaunchConfig config = {grid, block, dynamicShared, stream, nullptr, 0};
  return cudaLaunchKernelExC(&config, function, arguments);
}
EXPORT cudaError cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **arguments,
                                             size_t dynamicShared, CUstream stream) {
  tile::runtime::LaunchAttribute cooperative;
  cooperative.id = tile::runtime::cuda::launchCooperative;
  cooperative.value.flag = 1;
  const LaunchConfig config = {grid, block, dynamicShared, stream, &cooperative, 1};
  return cudaLaunchKernelExC(&config, function, arguments);
}

EXPORT cudaError cudaFuncGetAttributes(FunctionAttributes *attributes, const void *function) {
  return call([=] {
    CUfunction kernel = nullptr;
    if (const cudaError error = attributes ? findEither(function, kernel) : invalidValue)
      return error;
    const auto get = [&](DriverAttribute attribute) {
      int value = 0;
      cuFuncGetAttribute(&value, attribute, kernel);
      return value;
    };
    *attributes = {size_t(get(SharedBytes)),
                   size_t(get(ConstantBytes)),
                   size_t(get(LocalBytes)),
                   get(MaxThreads),
                   get(Registers),
                   get(PtxVersion),
                   get(BinaryVersion),
                   get(CachesGlobals),
                   get(MaxDynamicShared),
                   get(Carveout),
                   get(ClusterMustBeSet),
                   get(RequiredWidth),
                   get(RequiredHeight),
                   get(RequiredDepth),
                   get(SchedulingPolicy),
                   get(NonPortableAllowed),
                   {}};
    return success;
  });
}
EXPORT cudaError cudaFuncSetAttribute(const void *function, int attribute, int value) {
  return call([=] {
    CUfunction kernel = nullptr;
    const cudaError error = findEither(function, kernel);
    return error == success ? cuFuncSetAttribute(kernel, attribute, value) : error;
  });
}
EXPORT cudaError cudaFuncSetCacheConfig(const void *, int) {
  return success;
}

EXPORT cudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *function, int threads,
                                                                        size_t dynamicShared, unsigned flags) {
  return call([=] {
    CUfunction kernel = nullptr;
    const cudaError error = findEither(function, kernel);
    return error == success
               ? cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, kernel, threads, dynamicShared, flags)
               : error;
  });
}
EXPORT cudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int threads,
                                                               size_t dynamicShared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, dynamicShared, 0);
}
EXPORT cudaError cudaOccupancyMaxActiveClusters(int *count, const void *function, const LaunchConfig *config) {
  return call([=] {
    CUfunction kernel = nullptr;
    tile::runtime::LaunchConfig driver;
    cudaError error = config ? findEither(function, kernel) : invalidValue;
    if (error == success)
      error = describe(*config, driver);
    return error == success ? cuOccupancyMaxActiveClusters(count, kernel, &driver) : error;
  });
}
EXPORT cudaError cudaLaunchHostFunc(CUstream stream, void (*function)(void *), void *data) {
  return call([=] { return cuLaunchHostFunc(stream, function, data); });
}
