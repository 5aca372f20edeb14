// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel from source code, launches it while a faster version is being compiled, and checks the result.
//
//   scale [FOLDER]     caches compiled kernels in FOLDER for later runs
//
// Without a GPU it runs in the simulator.
#include "../driver/driver.h"

#include <tile/Compiler.h>
#include <tile/jit.h>

#include <cstdio>
#include <cstring>

static const char *source = R"(
#: grid(cdiv(N, BLOCK))
@triton.jit
def scale(x: ptr[f32], factor: f32, N: i32, BLOCK: constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < N) * factor, mask=i < N)
)";

static void check(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_jit_last_error());
}

int main(int count, char **values) try {
  tile::CompilerSettings settings;
  settings.cacheFolder = count > 1 ? values[1] : "";
  tile::Compiler compiler(settings);
  tile_runtime *runtime = driver::open();
  tile_jit *jit = nullptr;
  tile_jit_kernel *kernel = nullptr;
  check(tile_jit_create(compiler.get(), runtime, nullptr, &jit));
  check(tile_jit_get(jit, source, std::strlen(source), nullptr, 0, &kernel));

  std::vector<float> numbers(1024);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i);
  float *x = driver::upload(numbers);
  float factor = 2;
  int size = int(numbers.size());
  void *arguments[] = {&x, &factor, &size};
  for (int step = 0; step < 3; ++step) {
    check(tile_jit_launch(kernel, nullptr, arguments, 3));
    if (step == 0) // otherwise the version for multiples of 16 would not be ready until a few launches later
      check(tile_jit_wait(jit));
  }
  const std::vector<float> scaled = driver::download(x, numbers.size());
  bool isRight = true;
  for (size_t i = 0; i < numbers.size(); ++i)
    isRight &= scaled[i] == 8 * numbers[i];
  tile_kernel *choice = nullptr;
  tile_parameter parameter = {};
  check(tile_jit_choice(kernel, arguments, 3, &choice));
  driver::check(tile_kernel_parameter(choice, 2, &parameter));
  std::printf("%s; the kernel in use is for multiples of %d\n", isRight ? "right" : "WRONG",
              int(parameter.divisibility));
  tile_jit_destroy(jit);
  driver::check(tile_runtime_destroy(runtime));
  return isRight ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
