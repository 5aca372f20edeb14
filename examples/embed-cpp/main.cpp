// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes a @ b + b @ a: two GEMMs in two streams, from a pack with variants for several GPUs, then the sum of their
// results. First uses individual launches, then a CUDA graph, which is replayed with other inputs.
//
//   multiply matmul.tilepack [TABLE]
//
// TABLE is a tuning table that `tile-run tune matmul.tilepack M=96 N=96 K=96 -o TABLE` has written on this GPU. Without
// a GPU the program runs in the simulator.
#include "../driver/driver.h"
#include "vector_add.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

using driver::Handle;

constexpr int size = 96; // rows and columns of the square matrices

/// Returns small integers, which bf16 represents exactly. (A bf16 is the upper half of a float.)
std::vector<uint16_t> makeMatrix(int seed) {
  std::vector<uint16_t> values;
  for (int i = 0; i < size * size; ++i) {
    const float value = float((i * 7 + i / size * seed) % 11 - 5);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    values.push_back(uint16_t(bits >> 16));
  }
  return values;
}

float toFloat(uint16_t value) {
  const uint32_t bits = uint32_t(value) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

/// Returns the expected result, which is exact because all sums are integers below 2^24.
std::vector<float> expected(const std::vector<uint16_t> &a, const std::vector<uint16_t> &b) {
  std::vector<float> result(size * size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k)
        result[i * size + j] +=
            toFloat(a[i * size + k]) * toFloat(b[k * size + j]) + toFloat(b[i * size + k]) * toFloat(a[k * size + j]);
  return result;
}

struct Work {
  tile_kernel *multiply = nullptr, *add = nullptr;
  uint16_t *a = nullptr, *b = nullptr;
  float *ab = nullptr, *ba = nullptr, *sum = nullptr;
  Handle streams[2] = {}, begin = nullptr, end = nullptr;

  void launchMatmul(Handle stream, uint16_t *left, uint16_t *right, float *c) const {
    int32_t n = size;
    void *arguments[] = {&left, &right, &c, &n, &n, &n, &n, &n, &n};
    tile_launch_options options = {};
    options.stream = stream;
    driver::check(tile_launch(multiply, &options, arguments, 9));
  }

  /// Launches everything; the work starts and ends in the first stream.
  void launch() const {
    driver::call("cuEventRecord", begin, streams[0]);
    driver::call("cuStreamWaitEvent", streams[1], begin, 0u);
    launchMatmul(streams[0], a, b, ab);
    launchMatmul(streams[1], b, a, ba);
    driver::call("cuEventRecord", end, streams[1]);
    driver::call("cuStreamWaitEvent", streams[0], end, 0u);
    driver::check(vector_add_launch(add, streams[0], ab, ba, sum, size * size));
  }

  /// Captures the same work as a graph.
  Handle capture() const {
    Handle graph = nullptr, executable = nullptr;
    driver::call("cuStreamBeginCapture_v2", streams[0], 0);
    launch();
    driver::call("cuStreamEndCapture", streams[0], &graph);
    driver::call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
    driver::call("cuGraphDestroy", graph);
    return executable;
  }

  bool isRight(const char *what, const std::vector<float> &wanted) const {
    driver::call("cuStreamSynchronize", streams[0]);
    const bool right = driver::download(sum, wanted.size()) == wanted;
    std::printf("%s: %s\n", what, right ? "right" : "WRONG");
    return right;
  }
};

} // namespace

int main(int count, char **words) try {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: multiply matmul.tilepack [TABLE]\n");
    return 2;
  }
  tile_runtime *runtime = driver::open();
  Work work;
  driver::check(vector_add_load(runtime, &work.add));
  driver::check(tile_kernel_load_file(runtime, words[1], &work.multiply));
  if (count == 3)
    driver::check(tile_kernel_use_tuning(work.multiply, words[2]));

  const std::vector<uint16_t> a = makeMatrix(3), b = makeMatrix(5), other = makeMatrix(8);
  work.a = driver::upload(a);
  work.b = driver::upload(b);
  for (float **memory : {&work.ab, &work.ba, &work.sum})
    *memory = driver::allocate<float>(size * size);
  for (Handle *event : {&work.begin, &work.end})
    driver::call("cuEventCreate", event, 2u); // CU_EVENT_DISABLE_TIMING
  for (Handle &stream : work.streams) {
    driver::call("cuStreamCreate", &stream, 1u); // CU_STREAM_NON_BLOCKING
    // Loads the modules and allocates scratch memory for variants that need it. Neither is allowed during capture.
    driver::check(tile_kernel_prepare_stream(work.multiply, stream));
  }
  driver::check(tile_kernel_prepare(work.add));

  uint32_t variants = 0;
  const char *tuning = nullptr;
  driver::check(tile_kernel_variant_count(work.multiply, &variants));
  driver::check(tile_kernel_tuning(work.multiply, &tuning));
  std::printf("%s: %u variants; %s\n", driver::deviceName().c_str(), variants, tuning);

  work.launch();
  bool isRight = work.isRight("two streams", expected(a, b));
  Handle graph = work.capture();
  driver::copyTo(work.a, other);
  driver::call("cuGraphLaunch", graph, work.streams[0]);
  isRight &= work.isRight("graph", expected(other, b));
  driver::call("cuGraphExecDestroy", graph);

  tile_kernel_destroy(work.multiply);
  tile_kernel_destroy(work.add);
  driver::check(tile_runtime_destroy(runtime));
  return isRight ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
