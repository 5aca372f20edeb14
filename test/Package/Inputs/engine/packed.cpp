// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with a pack of kernels inside.
#include "parts.h"

#include <cstdio>

tile_status shiftAll(const parts_kernels &kernels);

int main() {
  parts_kernels kernels;
  if (parts_load(nullptr, &kernels) != TILE_OK) {
    std::printf("not loaded: %s\n", tile_last_error());
    return 1;
  }
  size_t bytes = 0;
  if (wide_out_bytes(kernels.wide, 1000, &bytes) == TILE_OK)
    std::printf("%zu bytes, blocks of %d\n", bytes, wide_BLOCK);
  if (shiftAll(kernels) != TILE_OK)
    std::printf("refused: %s\n", tile_last_error());
  parts_destroy(&kernels);
}
