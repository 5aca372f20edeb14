/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that describes an artifact, and says that it cannot run it where there is no GPU. */
#include <stdio.h>
#include <tile/tilert.h>

int main(int argc, char **argv) {
  tile_kernel *kernel;
  tile_kernel_info info;
  tile_runtime *runtime;
  if (argc != 2 || tile_kernel_load_file(NULL, argv[1], &kernel) != TILE_OK ||
      tile_kernel_describe(kernel, &info) != TILE_OK) {
    printf("no kernel: %s\n", tile_last_error());
    return 1;
  }
  printf("%s for %s takes %u parameters\n", info.entry, info.target, info.parameter_count);
  tile_kernel_destroy(kernel);
  if (tile_runtime_create(NULL, NULL, &runtime) != TILE_OK)
    printf("no driver: %s\n", tile_last_error());
  else
    tile_runtime_destroy(runtime);
  return 0;
}
