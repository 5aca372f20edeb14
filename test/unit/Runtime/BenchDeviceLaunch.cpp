// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the host time of a launch with the real driver: all of tile_launch, and the share of the driver's functions.
//
//   bench-device-launch gemm.cubin       matmul.tile for bf16, with or without variants; needs a GPU
//
// The median of batches, ns per launch; GEMMs are small, so that the device keeps up.
#include "tile/tilert.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void *driver = nullptr;

/// A function of the driver, and how long its calls take.
template <int number, typename... Arguments> struct Timed {
  static inline int (*function)(Arguments...) = nullptr;
  static inline double time = 0; // ns

  static int call(Arguments... arguments) {
    const auto begin = Clock::now();
    const int result = function(arguments...);
    time += nanosecondsSince(begin);
    return result;
  }
  static void *wrap(void *found) {
    function = reinterpret_cast<int (*)(Arguments...)>(found);
    return found ? reinterpret_cast<void *>(call) : nullptr;
  }
};
using TimedLaunch = Timed<0, const void *, void *, void **, void **>;
using TimedEncoding = Timed<1, void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                            const uint32_t *, int, int, int, int>;

void *lookup(void *, const char *symbol) {
  void *found = dlsym(driver, symbol);
  const std::string_view name = symbol;
  return name == "cuLaunchKernelEx"         ? TimedLaunch::wrap(found)
         : name == "cuTensorMapEncodeTiled" ? TimedEncoding::wrap(found)
                                            : found;
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void check(bool isGood, const char *what) {
  if (isGood)
    return;
  std::fprintf(stderr, "bench-device-launch: %s: %s\n", what, tile_last_error());
  std::exit(1);
}

} // namespace

int main(int count, char **values) {
  constexpr int numBatches = 41, launches = 500; // fewer than the driver's queue holds
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  check(count == 2, "usage: bench-device-launch gemm.cubin");
  check(driver != nullptr, "libcuda.so.1");
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
  check(tile_runtime_create(lookup, nullptr, &runtime) == TILE_OK, "runtime");
  check(tile_device_activate(runtime, 0) == TILE_OK, "device");
  check(tile_kernel_load_file(runtime, values[1], &kernel) == TILE_OK, values[1]);
  check(tile_kernel_prepare(kernel) == TILE_OK, "prepare");
  const auto allocate = reinterpret_cast<int (*)(uint64_t *, size_t)>(dlsym(driver, "cuMemAlloc_v2"));
  const auto synchronize = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
  uint64_t memory = 0;
  check(allocate(&memory, 1 << 26) == 0, "cuMemAlloc_v2");
  size_t numArguments = 0;
  tile_parameter parameter;
  while (tile_kernel_parameter(kernel, uint32_t(numArguments), &parameter) == TILE_OK)
    ++numArguments;
  int32_t m = 0, size = 64;
  std::vector<void *> arguments{&memory, &memory, &memory, &m};
  arguments.resize(numArguments, &size);
  const auto measure = [&](const char *name, bool areNew) {
    std::vector<double> all, launching, encoding;
    for (int batch = 0; batch < numBatches; ++batch) {
      TimedLaunch::time = TimedEncoding::time = 0;
      const auto begin = Clock::now();
      for (int i = 0; i < launches; ++i) {
        m = areNew ? 1 + (batch * launches + i) % 4096 : 64;
        check(tile_launch(kernel, nullptr, arguments.data(), arguments.size()) == TILE_OK, "launch");
      }
      all.push_back(nanosecondsSince(begin) / launches);
      launching.push_back(TimedLaunch::time / launches);
      encoding.push_back(TimedEncoding::time / launches);
      check(synchronize() == 0, "cuCtxSynchronize");
    }
    std::printf("%-28s %8.0f, of which in cuLaunchKernelEx %8.0f, in cuTensorMapEncodeTiled %8.0f\n", name,
                medianOf(all), medianOf(launching), medianOf(encoding));
  };
  std::printf("ns a launch of %s\n", values[1]);
  measure("sizes seen before", false);
  measure("new sizes", true);
  tile_kernel_destroy(kernel);
  tile_runtime_destroy(runtime);
  return 0;
}
