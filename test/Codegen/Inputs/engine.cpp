// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses the kernels of engine.h, whose code is in another file of the program.
#include "engine.h"

#include <cstdio>

static_assert(twice_f16_BLOCK == 128 && twice_f32_BLOCK == 256, "constants can be used at compile time");

int main() {
  engine_kernels kernels;
  if (engine_load(nullptr, &kernels) != TILE_OK) {
    std::printf("not loaded: %s\n", tile_last_error());
    return 1;
  }
  std::size_t bytes = 0;
  if (twice_f16_out_bytes(kernels.twice_f16, 300, &bytes) == TILE_OK &&
      engine::twice(kernels, nullptr, static_cast<const tile_f16 *>(nullptr), nullptr, 300) != TILE_OK)
    std::printf("twice_f16: %zu bytes, refused: %s\n", bytes, tile_last_error());
  if (twice_f32_x_bytes(kernels.twice_f32, int64_t(1) << 31, &bytes) != TILE_OK)
    std::printf("2147483648: %s\n", tile_last_error());
  std::printf("blocks of %d and %d\n", twice_f16_BLOCK, twice_f32_BLOCK);
  engine_destroy(&kernels);
  tile_kernel *absent = nullptr;
  if (engine_load_kernel(nullptr, "absent", &absent) != TILE_OK)
    std::printf("%s\n", tile_last_error());
}
