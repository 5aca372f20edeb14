// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three headers of one kernel: each for a GPU, and one for both.
#include "scale_any.h"
#include "scale_large.h"
#include "scale_small.h"

#include <cstdio>

static void print(const char *name, tile_kernel *kernel) {
  tile_kernel_info info;
  if (tile_kernel_describe(kernel, &info) == TILE_OK)
    std::printf("%s for %s\n", name, info.target);
}

int main() {
  tile_kernel *kernel = nullptr;
  if (scale_small_load(nullptr, &kernel) == TILE_OK)
    print("small", kernel);
  tile_kernel_destroy(kernel);
  if (scale_large_load(nullptr, &kernel) == TILE_OK)
    print("large", kernel);
  tile_kernel_destroy(kernel);
  uint32_t count = 0;
  if (scale_any_load(nullptr, &kernel) == TILE_OK && tile_kernel_variant_count(kernel, &count) == TILE_OK)
    std::printf("any: %u variants\n", count);
  tile_kernel_destroy(kernel);
}
