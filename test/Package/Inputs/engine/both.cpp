// Two headers of one kernel.
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
}
