/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds two vectors with a kernel that is embedded in this program, and checks the result.
 *
 * A program with the CUDA toolkit calls cuMemAlloc and the other driver functions directly; this one looks them up by
 * name, so that it builds without a toolkit. Without a GPU it runs in the simulator:
 * LD_LIBRARY_PATH=WHERE_TILE_IS_INSTALLED/lib/tile/simulator.
 */
#include "vector_add.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long address;

static void *driver;

static void *find(const char *name) {
  void *function = driver ? dlsym(driver, name) : NULL;
  if (!function) {
    fprintf(stderr, "there is no CUDA driver with %s\n", name);
    exit(1);
  }
  return function;
}

static void check(tile_status status) {
  if (status == TILE_OK)
    return;
  fprintf(stderr, "%s\n", tile_last_error());
  exit(1);
}

int main(void) {
  enum { count = 1000 };
  float x[count], y[count], z[count];
  for (int i = 0; i < count; ++i) {
    x[i] = (float)i;
    y[i] = 0.5f * (float)i;
  }

  tile_runtime *runtime;
  tile_kernel *kernel;
  check(tile_runtime_create(NULL, NULL, &runtime)); /* loads libcuda.so.1 */
  check(tile_device_activate(runtime, 0));
  check(vector_add_load(runtime, &kernel));

  driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*allocate)(address *, size_t);
  int (*copy_to)(address, const void *, size_t);
  int (*copy_from)(void *, address, size_t);
  *(void **)&allocate = find("cuMemAlloc_v2");
  *(void **)&copy_to = find("cuMemcpyHtoD_v2");
  *(void **)&copy_from = find("cuMemcpyDtoH_v2");
  address memory[3];
  for (int i = 0; i < 3; ++i)
    if (allocate(&memory[i], sizeof x) != 0)
      return 1;
  if (copy_to(memory[0], x, sizeof x) != 0 || copy_to(memory[1], y, sizeof y) != 0)
    return 1;

  check(vector_add_launch(kernel, NULL, (void *)memory[0], (void *)memory[1], (void *)memory[2], count));
  if (copy_from(z, memory[2], sizeof z) != 0) /* waits for the kernel */
    return 1;
  for (int i = 0; i < count; ++i)
    if (z[i] != x[i] + y[i]) {
      printf("element %d is %g, not %g\n", i, z[i], x[i] + y[i]);
      return 1;
    }
  printf("%d sums are right\n", (int)count);
  tile_kernel_destroy(kernel);
  check(tile_runtime_destroy(runtime));
  return 0;
}
