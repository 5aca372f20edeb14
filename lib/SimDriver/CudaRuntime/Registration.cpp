// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration by nvcc's code before main. That code registers the fat binaries of a program, and the host functions
// and variables that represent kernels and device variables. A fat binary is loaded when one of its kernels or
// variables is first used.
#include "SimDriver/CudaRuntime/Runtime.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace tile::sim::cudart;

namespace {

struct FatBinary {
  const void *image = nullptr;
  void *libraries[8] = {}; ///< by device, because each device has separate module variables
};
struct Symbol {
  FatBinary *owner = nullptr;
  std::string name;
};

struct Registry {
  std::mutex mutex; ///< guards all members below
  std::vector<std::unique_ptr<FatBinary>> binaries;
  std::unordered_map<const void *, Symbol> functions, variables; ///< keyed by host address
};
/// Returns the registry. It is created when the first object file registers itself, which may be before the static
/// constructors of this file have run.
Registry &registry() {
  static Registry shared;
  return shared;
}

void add(std::unordered_map<const void *, Symbol> &symbols, void **handle, const void *host, const char *name) {
  symbols[host] = {reinterpret_cast<FatBinary *>(handle), name};
}

/// Returns the library of a fat binary for the current device, and loads it if necessary. The caller holds the mutex.
cudaError libraryOf(FatBinary &binary, void *&library) {
  void *&loaded = binary.libraries[deviceOfThread() % std::size(binary.libraries)];
  if (!loaded)
    if (const cudaError error = cuLibraryLoadData(&loaded, binary.image, nullptr, nullptr, 0, nullptr, nullptr, 0))
      return error;
  library = loaded;
  return success;
}

struct Configuration {
  Dim3 grid, block;
  size_t dynamicShared = 0;
  CUstream stream = nullptr;
};
thread_local std::vector<Configuration> configurations; ///< pending arguments of kernel<<<...>>>(...)

} // namespace

cudaError tile::sim::cudart::findKernel(const void *hostFunction, CUfunction &kernel) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().functions.find(hostFunction);
  if (found == registry().functions.end())
    return invalidDeviceFunction;
  void *library = nullptr;
  if (const cudaError error = libraryOf(*found->second.owner, library))
    return error;
  return cuLibraryGetKernel(&kernel, library, found->second.name.c_str());
}

cudaError tile::sim::cudart::findVariable(const void *hostVariable, CUdeviceptr &address, size_t &bytes) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(hostVariable);
  if (found == registry().variables.end())
    return invalidSymbol;
  void *library = nullptr;
  if (const cudaError error = libraryOf(*found->second.owner, library))
    return error;
  return cuLibraryGetGlobal(&address, &bytes, library, found->second.name.c_str());
}

EXPORT void **__cudaRegisterFatBinary(void *image) {
  const std::lock_guard lock(registry().mutex);
  registry().binaries.push_back(std::make_unique<FatBinary>(FatBinary{image, {}}));
  return reinterpret_cast<void **>(registry().binaries.back().get());
}
EXPORT void __cudaRegisterFatBinaryEnd(void **) {}
EXPORT void __cudaUnregisterFatBinary(void **) {}
EXPORT char __cudaInitModule(void **) {
  return 1;
}
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, void *, void *,
                                   Dim3 *, Dim3 *, int *) {
  const std::lock_guard lock(registry().mutex);
  add(registry().functions, handle, host, name);
}
EXPORT void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, size_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  add(registry().variables, handle, host, name);
}
/// Does nothing: managed variables would need an address that is valid on the host and on the device. A program whose
/// managed variables are unused still runs.
EXPORT void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int) {}

EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t dynamicShared, CUstream stream) {
  configurations.push_back({grid, block, dynamicShared, stream});
  return 0;
}
EXPORT cudaError __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *dynamicShared, void *stream) {
  if (configurations.empty())
    return keep(missingConfiguration);
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *dynamicShared = last.dynamicShared;
  *static_cast<CUstream *>(stream) = last.stream;
  return success;
}
