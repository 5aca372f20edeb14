// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules and libraries, with their kernels and variables. A module decodes all its kernels when it is loaded, so the
// error log names instructions that the simulator or the target lacks. A library decodes a kernel when a program asks
// for the kernel, like CUDA's lazy loading. A CUkernel is a CUfunction of the device for which the library was loaded.
#include "SimDriver/EncodeTiled.h"
#include "SimDriver/State.h"

#include <algorithm>
#include <map>

using namespace tile;
using namespace tile::runtime;
using namespace tile::sim;

using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;

namespace {

/// Modules and functions live as long as the process, because there are only a few of them.
std::vector<std::unique_ptr<LoadedPtx>> modules;
std::vector<std::unique_ptr<LoadedFunction>> functions;
/// For each library, the kernels for which a program has a handle, by name.
std::map<const LoadedPtx *, std::map<std::string, CUkernel>> kernelsOf;

/// Writes the error log to the buffer that the caller passed, or prints it if there is none. libtilert includes the log
/// in its error message.
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

CUresult resultOf(const Error &error) {
  switch (error.code) {
  case TILE_ERROR_NOT_AN_ARTIFACT:
    return invalidImage;
  case TILE_ERROR_ARCHITECTURE:
    return cuda::errorNoBinaryForGpu;
  case TILE_ERROR_OUT_OF_MEMORY:
    return outOfMemory;
  default:
    return invalidPtx;
  }
}

/// Decodes all kernels and discards the results. Returns the first error.
Status checkKernels(const LoadedPtx &ptx) {
  for (const Function &function : ptx.module.functions)
    if (function.isEntry && !function.isDeclaration)
      if (auto found = findFunction(ptx, function.name); !found)
        return found.error();
  return Success{};
}

/// Returns the module with this handle, or null. The caller holds the mutex.
LoadedPtx *findModule(const void *handle) {
  const auto found = std::find_if(modules.begin(), modules.end(), [&](const auto &one) { return one.get() == handle; });
  return found == modules.end() ? nullptr : found->get();
}

template <typename Handle>
CUresult loadModule(Handle *handle, const void *image, bool isLazy, unsigned count, int *options, void **values) {
  if (!handle || !image)
    return invalidValue;
  return locked([=] {
    Result<std::unique_ptr<LoadedPtx>> loaded = state().devices.load(std::max(0, currentDevice()), image);
    Status status = loaded ? Status(Success{}) : Status(loaded.error());
    if (status && !isLazy)
      status = checkKernels(**loaded);
    if (!status) {
      writeLog(status.error().message, count, options, values);
      return resultOf(status.error());
    }
    modules.push_back(std::move(*loaded));
    *handle = reinterpret_cast<Handle>(modules.back().get());
    return success;
  });
}

template <typename Handle> CUresult getFunction(Handle *function, const void *module, const char *name) {
  if (!function || !name)
    return invalidValue;
  return locked([=] {
    LoadedPtx *ptx = findModule(module);
    if (!ptx)
      return invalidHandle;
    CUkernel &known = kernelsOf[ptx][name];
    if (!known) {
      if (!ptx->module.findEntry(name))
        return fail(notFound, Error{TILE_ERROR_INVALID_ARGUMENT, std::string("the PTX has no kernel '") + name + "'"});
      Result<std::unique_ptr<LoadedFunction>> found = findFunction(*ptx, name);
      if (!found)
        return fail(invalidPtx, found.error());
      functions.push_back(std::move(*found));
      known = reinterpret_cast<CUkernel>(functions.back().get());
    }
    *function = reinterpret_cast<Handle>(known);
    return success;
  });
}

CUresult getVariable(CUdeviceptr *address, size_t *bytes, const void *module, const char *name) {
  if (!name)
    return invalidValue;
  const std::lock_guard lock(state().mutex);
  const LoadedPtx *ptx = findModule(module);
  if (!ptx)
    return invalidHandle;
  for (size_t i = 0; i < ptx->module.variables.size(); ++i)
    if (ptx->variables.addresses[i] && ptx->module.variables[i].name == name) {
      if (address)
        *address = ptx->variables.addresses[i];
      if (bytes)
        *bytes = ptx->module.variables[i].size;
      return success;
    }
  return notFound;
}

} // namespace

LoadedFunction *tile::sim::findFunction(CUfunction function) {
  for (const std::unique_ptr<LoadedFunction> &one : functions)
    if (reinterpret_cast<CUfunction>(one.get()) == function)
      return one.get();
  return nullptr;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
  return loadModule(module, image, false, count, options, values);
}
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return loadModule(module, image, false, 0, nullptr, nullptr);
}
EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return loadModule(module, image, false, 0, nullptr, nullptr);
}
EXPORT CUresult cuModuleUnload(CUmodule) {
  return success;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return getFunction(function, module, name);
}
EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  return getVariable(address, bytes, module, name);
}
EXPORT CUresult cuModuleGetLoadingMode(int *mode) {
  constexpr int eager = 1;
  *mode = eager;
  return success;
}

EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *image, int *options, void **values, unsigned count,
                                  int *, void **, unsigned) {
  return loadModule(library, image, true, count, options, values);
}
EXPORT CUresult cuLibraryUnload(CUlibrary) {
  return success;
}
EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  if (!module)
    return invalidValue;
  *module = reinterpret_cast<CUmodule>(library);
  return success;
}
EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  return getFunction(kernel, library, name);
}
EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  return getVariable(address, bytes, library, name);
}
EXPORT CUresult cuLibraryGetManaged(CUdeviceptr *, size_t *, CUlibrary, const char *) {
  return notFound;
}
EXPORT CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
  if (!count)
    return invalidValue;
  const std::lock_guard lock(state().mutex);
  const LoadedPtx *ptx = findModule(library);
  if (!ptx)
    return invalidHandle;
  *count = unsigned(std::count_if(ptx->module.functions.begin(), ptx->module.functions.end(),
                                  [](const Function &function) { return function.isEntry; }));
  return success;
}
EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  if (!function)
    return invalidValue;
  *function = reinterpret_cast<CUfunction>(kernel);
  return success;
}
EXPORT CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *found = findFunction(reinterpret_cast<CUfunction>(kernel));
  if (!found || !library)
    return found ? invalidValue : invalidHandle;
  *library = reinterpret_cast<CUlibrary>(const_cast<LoadedPtx *>(found->ptx));
  return success;
}

EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  if (!value || !function)
    return invalidValue;
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *known = findFunction(function);
  if (!known)
    return invalidHandle;
  const Function &kernel = *known->ptx->module.findEntry(known->name);
  uint32_t threads = kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2];
  if (threads == 0)
    threads = 1024;
  const Settings &settings = state().devices.settings;
  // The values are in the order of CUfunction_attribute (CUDA driver API). The simulator does not allocate registers.
  const uint32_t version = uint32_t(10 * settings.major + settings.minor);
  const uint32_t values[] = {threads,
                             known->staticShared,
                             known->constantBytes,
                             known->localBytes,
                             32, // registers
                             version,
                             version,
                             0, // does not cache globals in L1
                             known->maxDynamicShared,
                             uint32_t(-1), // carveout: default
                             kernel.requiredCluster[0] != 0,
                             kernel.requiredCluster[0],
                             kernel.requiredCluster[1],
                             kernel.requiredCluster[2],
                             1, // allows clusters of more than 8
                             0};
  if (attribute < 0 || size_t(attribute) >= std::size(values))
    return invalidValue;
  *value = static_cast<int>(values[attribute]);
  return success;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  const std::lock_guard lock(state().mutex);
  LoadedFunction *known = findFunction(function);
  if (!known)
    return invalidHandle;
  if (attribute != cuda::functionMaxDynamicShared)
    return success;
  if (value < 0 || uint64_t(value) + known->staticShared > state().devices.limits().maxSharedPerCta)
    return invalidValue;
  known->maxDynamicShared = uint32_t(value);
  return success;
}
EXPORT CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}
EXPORT CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}
EXPORT CUresult cuFuncSetCacheConfig(CUfunction, int) {
  return success;
}
EXPORT CUresult cuKernelSetCacheConfig(CUkernel, int, CUdevice) {
  return success;
}
EXPORT CUresult cuFuncGetName(const char **name, CUfunction function) {
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *known = findFunction(function);
  if (!known || !name)
    return known ? invalidValue : invalidHandle;
  *name = known->name.c_str();
  return success;
}
EXPORT CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}
EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
  return cuKernelGetLibrary(reinterpret_cast<CUlibrary *>(module), reinterpret_cast<CUkernel>(function));
}
EXPORT CUresult cuFuncLoad(CUfunction) {
  return success;
}
EXPORT CUresult cuFuncIsLoaded(int *isLoaded, CUfunction) {
  *isLoaded = 1;
  return success;
}
EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *known = findFunction(function);
  if (!known || index >= known->parameterBytes.size() || !offset)
    return known ? invalidValue : invalidHandle;
  *offset = known->parameterOffsets[index];
  if (size)
    *size = known->parameterBytes[index];
  return success;
}
EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, size);
}
EXPORT CUresult cuFuncGetParamCount(CUfunction function, size_t *count) {
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *known = findFunction(function);
  if (!known)
    return invalidHandle;
  *count = known->parameterBytes.size();
  return success;
}

EXPORT CUresult cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                       const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                       int interleave, int swizzle, int promotion, int fill) {
  return guarded([=] {
    return encodeTiled(map, type, rank, address, sizes, strides, box, elementStrides, interleave, swizzle, promotion,
                       fill);
  });
}
