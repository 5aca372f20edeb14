// The CUDA driver by its functions' names: no toolkit is needed to build this.
#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

using Address = unsigned long long;

void *library = nullptr;

void *lookup(void *, const char *symbol) {
  return dlsym(library, symbol);
}

template <typename... Arguments> void call(const char *function, Arguments... arguments) {
  auto *pointer = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, function));
  if (pointer && pointer(arguments...) == 0)
    return;
  std::fprintf(stderr, "%s failed\n", function);
  std::exit(1);
}

bool open(const char *path, tile_runtime **runtime) {
  library = dlopen(path, RTLD_NOW);
  return library && tile_runtime_create(lookup, nullptr, runtime) == TILE_OK;
}

} // namespace

void Device::check(int status, const char *what) {
  if (status == TILE_OK)
    return;
  std::fprintf(stderr, "%s: %s\n", what, tile_last_error());
  std::exit(1);
}

Device::Device() {
  simulated = !open("libcuda.so.1", &tile);
  if (simulated && !open(TILE_SIMULATOR, &tile)) {
    std::fprintf(stderr, "there is no GPU, and no simulator at %s\n", TILE_SIMULATOR);
    std::exit(1);
  }
  check(tile_device_activate(tile, 0), "device 0");
  char text[256] = "";
  call("cuDeviceGetName", +text, 256, 0);
  deviceName = text;
  call("cuStreamCreate", &stream, 0u);
  call("cuEventCreate", &start, 0u);
  call("cuEventCreate", &end, 0u);
}

void *Device::allocateBytes(size_t bytes) {
  Address address = 0;
  call("cuMemAlloc_v2", &address, bytes);
  return reinterpret_cast<void *>(address);
}

void Device::copyTo(void *to, const void *from, size_t bytes) {
  call("cuMemcpyHtoD_v2", reinterpret_cast<Address>(to), from, bytes);
}

void Device::copyFrom(void *to, const void *from, size_t bytes) {
  wait();
  call("cuMemcpyDtoH_v2", to, reinterpret_cast<Address>(from), bytes);
}

void Device::clear(void *memory, size_t bytes) {
  call("cuMemsetD8Async", reinterpret_cast<Address>(memory), static_cast<unsigned char>(0), bytes, stream);
}

void Device::wait() {
  call("cuStreamSynchronize", stream);
}

void Device::startClock() {
  call("cuEventRecord", start, stream);
}

float Device::stopClock() {
  float milliseconds = 0;
  call("cuEventRecord", end, stream);
  call("cuEventSynchronize", end);
  call("cuEventElapsedTime", &milliseconds, start, end);
  return milliseconds;
}

std::vector<double> decode(const std::vector<_Float16> &values) {
  return {values.begin(), values.end()};
}
