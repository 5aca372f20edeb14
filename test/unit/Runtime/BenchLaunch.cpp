// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the host time of a launch, compared with a direct call of the driver: with one variant and with 24, with
// sizes that the thread has launched before and with new ones. The mock driver does nothing.
//
//   bench-launch [gemm.cubin]     ns a launch, the least of five repetitions; of this artifact, too (matmul.tile)
#include "FakeDriver.h"
#include "SmallVariants.h"
#include "tile/tilert.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

using namespace tile::runtime;
using namespace tile::test;

namespace {

/// Returns the ns per call for `rounds` calls of body(i).
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
  std::vector<PackedVariant> variants = {{gemmManifest("general"), "general", ""}};
  for (unsigned i = 1; i < count; ++i) {
    const std::string name = "aligned" + std::to_string(i);
    variants.push_back({alignedGemm(name, 64 << i % 3, 64 + 16 * (i % 12)), name, ""});
  }
  return *writePack(variants);
}

/// Three pointers, M, and sizes.
void measureKernel(tile_kernel *kernel, const char *name, int rounds) {
  check(tile_kernel_prepare(kernel));
  uint64_t a = 0x1000;
  int32_t m = 0, size = 4096;
  std::vector<void *> arguments = {&a, &a, &a, &m};
  tile_parameter parameter;
  for (uint32_t i = 4; tile_kernel_parameter(kernel, i, &parameter) == TILE_OK; ++i)
    arguments.push_back(&size);
  const auto launch = [&](int32_t rows) {
    m = rows;
    check(tile_launch(kernel, nullptr, arguments.data(), arguments.size()));
  };
  std::printf("%-16s sizes seen before %8.1f\n", name, measure(rounds, [&](int) { launch(4096); }));
  int32_t rows = 0;
  std::printf("%-16s new sizes         %8.1f\n", name, measure(rounds / 100 + 1, [&](int) { launch(rows += 8); }));
  tile_kernel_destroy(kernel);
}

} // namespace

int main(int count, char **values) {
  constexpr int rounds = 200000;
  FakeDriver driver;
  driver.isRecording = false;
  tile_runtime *runtime = nullptr;
  check(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime));
  LaunchConfig config = {};
  std::printf("ns a launch\n%-34s %8.1f\n", "the driver's function alone",
              measure(rounds, [&](int) { fake::launch(&config, nullptr, nullptr, nullptr); }));
  tile_kernel *kernel = nullptr;
  const std::string ptx = ".version 8.4\n// tile.manifest: " + toJson(alignedGemm("", 128, 128)) + "\n";
  check(tile_kernel_load_memory(runtime, ptx.data(), ptx.size(), &kernel));
  measureKernel(kernel, "1 variant", rounds);
  for (unsigned variants : {2u, 24u}) {
    const std::string artifact = artifactOf(variants);
    check(tile_kernel_load_memory(runtime, artifact.data(), artifact.size(), &kernel));
    measureKernel(kernel, (std::to_string(variants) + " variants").c_str(), rounds);
  }
  if (count > 1) {
    check(tile_kernel_load_file(runtime, values[1], &kernel));
    measureKernel(kernel, "the artifact", rounds);
  }
  tile_runtime_destroy(runtime);
  return 0;
}

thread_local uint64_t tile::test::allocations = 0;
