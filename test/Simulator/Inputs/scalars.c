/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches the kernel of Exec/scalar-parameters.tile through its header; with an argument one that does not fit. */
#include "scalars.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long address;

static void check(tile_status status) {
  if (status == TILE_OK)
    return;
  printf("%s\n", tile_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  tile_runtime *runtime;
  tile_kernel *kernel;
  double out[8];
  address memory;
  int i;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*allocate)(address *, size_t) = (int (*)(address *, size_t))dlsym(driver, "cuMemAlloc_v2");
  int (*copy)(void *, address, size_t) = (int (*)(void *, address, size_t))dlsym(driver, "cuMemcpyDtoH_v2");
  check(tile_runtime_create(NULL, NULL, &runtime));
  check(tile_device_activate(runtime, 0));
  check(scalars_load(runtime, &kernel));
  allocate(&memory, sizeof out);
#ifdef WRONG
  /* A float is no half, nor are its bits. */
  check(scalars_launch(kernel, NULL, (void *)memory, 0.125f, 42.0f, tile_bf16_from(-1.5), 0.1, -7, 200, -30000, 1));
  check(scalars_launch(kernel, NULL, (void *)memory, 0.125f, tile_f16_from(42), 0xBFC0, 0.1, -7, 200, -30000, 1));
#endif
  check(scalars_launch(kernel, NULL, (void *)memory, 0.125f, tile_f16_from(42), tile_bf16_from(-1.5), 0.1, -7,
                       argc > 1 ? atoll(argv[1]) : 200, -30000, 1LL << 40));
  copy(out, memory, sizeof out);
  for (i = 0; i < 8; ++i)
    printf("%.17g ", out[i]);
  printf("\n");
  tile_kernel_destroy(kernel);
  return tile_runtime_destroy(runtime);
}
