// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with kernels inside. Its driver has no functions, so that it says the same with and without a GPU.
#include "scale.h"
#include "shift.h"

#include <cstdio>

static void *noFunction(void *, const char *) {
  return nullptr;
}

int main() {
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
  if (tile_runtime_create(&noFunction, nullptr, &runtime) != TILE_OK) {
    std::printf("no runtime: %s\n", tile_last_error());
    return 0;
  }
  if (scale_load(runtime, &kernel) != TILE_OK || scale_launch(kernel, nullptr, nullptr, 2.0f, 0) != TILE_OK ||
      shift_load(runtime, &kernel) != TILE_OK || shift_launch(kernel, nullptr, nullptr, 2.0f, 0) != TILE_OK)
    std::printf("no kernel: %s\n", tile_last_error());
  tile_runtime_destroy(runtime);
}
