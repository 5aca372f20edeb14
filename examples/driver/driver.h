// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up CUDA driver functions by name for the C++ examples: they build without a toolkit, and run in the simulator
// without a GPU. A program with the toolkit includes cuda.h and calls the functions directly.
//
//   tile_runtime *runtime = driver::open();
//   driver::call("cuStreamCreate", &stream, 0u);
//
// Failures are thrown as std::runtime_error.
#pragma once

#include <tile/tilert.h>

#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace driver {

using Address = unsigned long long; ///< CUdeviceptr
using Handle = void *;              ///< CUstream, CUevent, CUgraph, CUgraphExec

inline void *&library() {
  static void *handle = nullptr;
  return handle;
}

/// Looks up a driver function; has the signature that tile_runtime_create requires.
inline void *find(void *, const char *symbol) {
  return dlsym(library(), symbol);
}

/// Calls a driver function. The arguments must have exactly the types of its parameters.
template <typename... Arguments> void call(const char *function, Arguments... arguments) {
  auto *pointer = reinterpret_cast<int (*)(Arguments...)>(find(nullptr, function));
  const int result = pointer ? pointer(arguments...) : 0;
  if (!pointer)
    throw std::runtime_error(std::string("the CUDA driver has no ") + function);
  if (result != 0)
    throw std::runtime_error(std::string(function) + " failed: error " + std::to_string(result));
}

/// Throws an exception if a libtilert function has failed.
inline void check(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_last_error());
}

/// Creates a runtime for the first GPU, or for the simulator, whose path CMake defines.
inline tile_runtime *open() {
  tile_runtime *runtime = nullptr;
  for (const char *path : {"libcuda.so.1", TILE_SIMULATOR}) {
    library() = dlopen(path, RTLD_NOW);
    if (!library() || tile_runtime_create(find, nullptr, &runtime) != TILE_OK)
      continue;
    check(tile_device_activate(runtime, 0));
    return runtime;
  }
  throw std::runtime_error("there is neither a GPU nor the simulator at " TILE_SIMULATOR);
}

inline std::string deviceName() {
  char name[256] = "";
  call("cuDeviceGetName", +name, 256, 0);
  return name;
}

/// Allocates device memory that is freed when the program ends.
template <typename T> T *allocate(size_t count) {
  Address address = 0;
  call("cuMemAlloc_v2", &address, count * sizeof(T));
  return reinterpret_cast<T *>(address);
}

template <typename T> void copyTo(T *to, const std::vector<T> &from) {
  call("cuMemcpyHtoD_v2", reinterpret_cast<Address>(to), static_cast<const void *>(from.data()),
       from.size() * sizeof(T));
}

template <typename T> T *upload(const std::vector<T> &values) {
  T *memory = allocate<T>(values.size());
  copyTo(memory, values);
  return memory;
}

/// Copies from the device after waiting for the default stream; the caller must synchronize other streams first.
template <typename T> std::vector<T> download(const T *from, size_t count) {
  std::vector<T> values(count);
  call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), reinterpret_cast<Address>(from), count * sizeof(T));
  return values;
}

} // namespace driver
