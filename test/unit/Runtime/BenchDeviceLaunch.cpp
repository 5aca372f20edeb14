// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch costs the host with the real driver: all of tile_launch, and what of it is the driver's own function.
//
//   bench-device-launch gemm.cubin       matmul.tile for bf16, with or without variants; needs a GPU
//
// The median of batches, ns a launch; products are small, so that the device keeps up.
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

using Launch = int (*)(const void *, void *, void **, void **);

void *driver = nullptr;
Launch driverLaunch = nullptr;
double inDriver = 0; // ns

int timedLaunch(const void *config, void *function, void **arguments, void **extra) {
  const auto begin = Clock::now();
  const int result = driverLaunch(config, function, arguments, extra);
  inDriver += nanosecondsSince(begin);
  return result;
}

void *lookup(void *, const char *symbol) {
  void *function = dlsym(driver, symbol);
  if (std::string_view(symbol) != "cuLaunchKernelEx")
    return function;
  driverLaunch = reinterpret_cast<Launch>(function);
  return reinterpret_cast<void *>(timedLaunch);
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
    std::vector<double> all, own;
    for (int batch = 0; batch < numBatches; ++batch) {
      inDriver = 0;
      const auto begin = Clock::now();
      for (int i = 0; i < launches; ++i) {
        m = areNew ? 1 + (batch * launches + i) % 4096 : 64;
        check(tile_launch(kernel, nullptr, arguments.data(), arguments.size()) == TILE_OK, "launch");
      }
      all.push_back(nanosecondsSince(begin) / launches);
      own.push_back(inDriver / launches);
      check(synchronize() == 0, "cuCtxSynchronize");
    }
    std::sort(all.begin(), all.end());
    std::sort(own.begin(), own.end());
    std::printf("%-28s %8.0f, of which in cuLaunchKernelEx %8.0f\n", name, all[numBatches / 2], own[numBatches / 2]);
  };
  std::printf("ns a launch of %s\n", values[1]);
  measure("sizes seen before", false);
  measure("new sizes", true);
  tile_kernel_destroy(kernel);
  tile_runtime_destroy(runtime);
  return 0;
}
