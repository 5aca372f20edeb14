// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch costs the host, beside a bare call of the driver: with one variant and with 24, with sizes that the
// thread has launched with before and with new ones. The driver is the one in memory, which does nothing.
//
//   bench-launch [ROUNDS]     ns a launch, the least of five repetitions
#include "FakeDriver.h"
#include "SmallVariants.h"
#include "tile/tilert.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

using namespace tile::runtime;
using namespace tile::test;

namespace {

/// ns for each of `rounds` calls of body(i).
template <typename Body> double measure(int rounds, Body body) {
  double least = std::numeric_limits<double>::max();
  for (int repetition = 0; repetition < 5; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i)
      body(i);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / rounds);
  }
  return least;
}

void check(tile_status status) {
  if (status == TILE_OK)
    return;
  std::fprintf(stderr, "bench-launch: %s\n", tile_last_error());
  std::exit(1);
}

/// A general variant and `count` - 1 aligned ones.
std::string artifactOf(unsigned count) {
  std::vector<PackedVariant> variants = {{productManifest("general"), "general", ""}};
  for (unsigned i = 1; i < count; ++i) {
    const std::string name = "aligned" + std::to_string(i);
    variants.push_back({alignedProduct(name, 64 << i % 3, 64 + 16 * (i % 12)), name, ""});
  }
  return *writePack(variants);
}

struct Arguments {
  uint64_t a = 0x1000;
  int32_t m = 4096, size = 4096;
  void *list[7] = {&a, &a, &a, &m, &size, &size, &size};
};

} // namespace

int main(int count, char **values) {
  const int rounds = count > 1 ? std::max(std::atoi(values[1]), 1) : 200000;
  FakeDriver driver;
  driver.isRecording = false;
  tile_runtime *runtime = nullptr;
  check(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime));
  Arguments arguments;
  LaunchConfig config = {};
  std::printf("ns a launch\n%-36s %8.1f\n", "the driver's function alone",
              measure(rounds, [&](int) { fake::launch(&config, nullptr, arguments.list, nullptr); }));
  for (unsigned variants : {1u, 2u, 24u}) {
    tile_kernel *kernel = nullptr;
    const std::string artifact = artifactOf(variants);
    const std::string ptx = ".version 8.4\n// tile.manifest: " + toJson(alignedProduct("", 128, 128)) + "\n";
    check(variants == 1 ? tile_kernel_load_memory(runtime, ptx.data(), ptx.size(), &kernel)
                        : tile_kernel_load_memory(runtime, artifact.data(), artifact.size(), &kernel));
    check(tile_kernel_prepare(kernel));
    const auto launch = [&](int32_t m) {
      arguments.m = m;
      check(tile_launch(kernel, nullptr, arguments.list, 7));
    };
    std::printf("%2u variant%s sizes seen before%s %8.1f\n", variants, variants == 1 ? ", " : "s,", "         ",
                measure(rounds, [&](int) { launch(4096); }));
    int32_t m = 0;
    std::printf("%2u variant%s new sizes%s %8.1f\n", variants, variants == 1 ? ", " : "s,", "                 ",
                measure(rounds / 100 + 1, [&](int) { launch(m += 8); }));
    tile_kernel_destroy(kernel);
  }
  tile_runtime_destroy(runtime);
  return 0;
}

thread_local uint64_t tile::test::allocations = 0;
