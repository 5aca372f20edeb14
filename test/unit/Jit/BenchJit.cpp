// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the host time of lookups, compared with tile_launch, with a mock driver that does nothing.
//
//   bench-jit [ROUNDS]     ns a call, the least of five repetitions
#include "FakeDriver.h"
#include "tile/jit.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using tile::test::FakeDriver;

namespace {

template <typename Body> double measure(int rounds, Body body) {
  double least = 1e30;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i)
      if (body() != TILE_OK) {
        std::fprintf(stderr, "bench-jit: %s\n", tile_jit_last_error());
        std::exit(1);
      }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = time.count() / rounds < least ? time.count() / rounds : least;
  }
  return least;
}

} // namespace

int main(int count, char **values) {
  const int rounds = count > 1 ? std::atoi(values[1]) : 200000;
  std::string source = "#: grid(cdiv(N, 128))\n@triton.jit\ndef add(x: ptr[f32], y: ptr[f32], z: ptr[f32], N: i32):\n"
                       "    i = tl.program_id(0) * 128 + tl.arange(0, 128)\n"
                       "    tl.store(z + i, tl.load(x + i, mask=i < N) + tl.load(y + i, mask=i < N), mask=i < N)\n";
  while (source.size() < 8192) // a long file
    source += "# a line of text that belongs to the source as a comment\n";
  FakeDriver driver;
  driver.isRecording = false;
  tilec_compiler *compiler = nullptr;
  tile_runtime *runtime = nullptr;
  tile_jit *jit = nullptr;
  tile_jit_kernel *kernel = nullptr;
  tile_kernel *plain = nullptr;
  uint64_t x = 0x1000, y = 0x2000, z = 0x3000;
  int32_t n = 4096;
  void *arguments[] = {&x, &y, &z, &n};
  if (tilec_compiler_create(nullptr, &compiler) != TILEC_OK ||
      tile_runtime_create(FakeDriver::lookup, nullptr, &runtime) != TILE_OK ||
      tile_jit_create(compiler, runtime, nullptr, &jit) != TILE_OK ||
      tile_jit_get(jit, source.data(), source.size(), nullptr, 0, &kernel) != TILE_OK ||
      tile_jit_launch(kernel, nullptr, arguments, 4) != TILE_OK || tile_jit_wait(jit) != TILE_OK ||
      tile_jit_choice(kernel, arguments, 4, &plain) != TILE_OK) {
    std::fprintf(stderr, "bench-jit: %s\n", tile_jit_last_error());
    return 1;
  }
  const double direct = measure(rounds, [&] { return tile_launch(plain, nullptr, arguments, 4); });
  const double handle = measure(rounds, [&] { return tile_jit_launch(kernel, nullptr, arguments, 4); });
  const double lookup =
      measure(rounds / 10, [&] { return tile_jit_get(jit, source.data(), source.size(), nullptr, 0, &kernel); });
  std::printf("tile_launch %.0f ns, tile_jit_launch %.0f ns, tile_jit_get of %zu bytes %.0f ns\n", direct, handle,
              source.size(), lookup);
  tile_jit_destroy(jit);
  tile_runtime_destroy(runtime);
  tilec_compiler_destroy(compiler);
}
