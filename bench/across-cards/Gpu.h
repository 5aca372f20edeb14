// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver calls of the benchmark: memory, streams and events that a rank owns. Failures are thrown.
#pragma once

#include <tile/tile_dist.h>

#include <cstdint>
#include <dlfcn.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace across {

using Address = unsigned long long; ///< CUdeviceptr
using Handle = void *;              ///< CUstream, CUevent

inline void *driverLibrary() {
  static void *const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    throw std::runtime_error("libcuda.so.1 not found");
  return library;
}

/// Calls a function of a library. The arguments must have exactly the types of its parameters.
template <typename... Arguments> void callIn(void *library, const char *function, Arguments... arguments) {
  auto *pointer = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, function));
  const int result = pointer ? pointer(arguments...) : 0;
  if (!pointer)
    throw std::runtime_error(std::string("there is no ") + function);
  if (result != 0)
    throw std::runtime_error(std::string(function) + " failed: error " + std::to_string(result));
}

template <typename... Arguments> void call(const char *function, Arguments... arguments) {
  callIn(driverLibrary(), function, arguments...);
}

inline void checkRuntime(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_last_error());
}

inline void checkDist(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(std::string(tile_status_name(status)) + ": " + tile_dist_last_error());
}

class Memory {
public:
  explicit Memory(size_t bytes) : bytes(bytes) { call("cuMemAlloc_v2", &address, bytes); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    if (std::uncaught_exceptions() > 0)
      return; // freeing would wait for work that may never end
    auto *release = reinterpret_cast<int (*)(Address)>(dlsym(driverLibrary(), "cuMemFree_v2"));
    release(address);
  }

  Address get(size_t offset = 0) const { return address + offset; }
  void *pointer(size_t offset = 0) const { return reinterpret_cast<void *>(address + offset); }
  size_t size() const { return bytes; }
  void write(const void *from, size_t count) { call("cuMemcpyHtoD_v2", address, from, count); }
  void read(void *to, size_t offset, size_t count) const { call("cuMemcpyDtoH_v2", to, address + offset, count); }

private:
  Address address = 0;
  size_t bytes;
};

inline Handle makeStream() {
  constexpr unsigned nonBlocking = 1;
  Handle stream = nullptr;
  call("cuStreamCreate", &stream, nonBlocking);
  return stream;
}

inline Handle makeEvent() {
  Handle event = nullptr;
  call("cuEventCreate", &event, 0u);
  return event;
}

/// Makes stream `after` wait for all work that is now enqueued in stream `before`.
inline void order(Handle before, Handle after, Handle event) {
  call("cuEventRecord", event, before);
  call("cuStreamWaitEvent", after, event, 0u);
}

} // namespace across
