// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A multilayer perceptron, y = relu(x @ w1) @ w2, whose weights are spread over GPUs, as in Megatron-LM with sequence
// parallelism. Each rank has a part of the rows of x, of the columns of w1 and of the rows of w2:
//
//   x of the rank ──all-gather──▶ GEMM with its columns of w1, ReLU ──▶ h ──▶ GEMM with its rows of w2
//   ──reduce-scatter──▶ y
//                                                                                                             of the
//                                                                                                             rank
//   tensor-parallel-mlp [RANKS]                 ranks are threads, one for each GPU (default: as many as fit, in the
//   simulator 2) torchrun --no-python --nproc-per-node=2 tensor-parallel-mlp      or mpirun -n 2, srun -n 2: ranks are
//   processes
//
// Every rank compares its rows of y with fp64.
#include "../driver/driver.h"
#include "hidden.h"
#include "hidden_wait.h"
#include "output.h"
#include "sum.h"

#include <tile/tile_dist.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr int64_t tokens = 240, features = 64, hidden = 960; // for 1 to 6 and 8 ranks

/// Values between -1 and 1 that every rank computes alike, in bf16.
class Matrix {
public:
  Matrix(uint64_t seed, int64_t rows, int64_t columns, double scale)
      : seed(seed), rows(rows), columns(columns), scale(scale) {}

  uint16_t bits(int64_t row, int64_t column) const {
    uint64_t state = (seed << 48) + uint64_t(row * columns + column);
    state = (state ^ (state >> 31)) * 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9;
    const float value = float(scale * (double(state >> 11) / double(uint64_t(1) << 52) - 1));
    uint32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    return uint16_t(word >> 16);
  }
  double value(int64_t row, int64_t column) const { return decode(bits(row, column)); }
  static double decode(uint16_t bits) {
    const uint32_t word = uint32_t(bits) << 16;
    float value = 0;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
  /// Uploads a block of rows and columns; transposed, as weights are stored.
  uint16_t *upload(int64_t firstRow, int64_t numRows, int64_t firstColumn, int64_t numColumns,
                   bool isTransposed) const {
    std::vector<uint16_t> block(size_t(numRows * numColumns));
    for (int64_t row = 0; row < numRows; ++row)
      for (int64_t column = 0; column < numColumns; ++column)
        block[size_t(isTransposed ? column * numRows + row : row * numColumns + column)] =
            bits(firstRow + row, firstColumn + column);
    return driver::upload(block);
  }

  const uint64_t seed;
  const int64_t rows, columns;
  const double scale;
};

const Matrix x(1, tokens, features, 1), w1(2, features, hidden, 0.25), w2(3, hidden, features, 0.125);

void checkDist(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_dist_last_error());
}

class Rank {
public:
  /// `group`: of threads; null if the environment says which rank this is.
  Rank(tile_dist_group *group, int number) {
    driver::check(tile_runtime_create(driver::find, nullptr, &runtime));
    tile_dist_options options = {};
    options.runtime = runtime;
    options.device = -1;
    options.timeout_milliseconds = 20000;
    options.lookup = driver::find;
    // Without peer access ranks need NCCL; in the simulator there is none that knows its devices.
    options.transport = driver::deviceName() == "tile simulator" ? TILE_DIST_COPIES : TILE_DIST_ANY;
    checkDist(group ? tile_dist_connect_threads(group, number, &options, &comm)
                    : tile_dist_connect_environment(tile_dist_getenv, nullptr, &options, &comm));
    checkDist(tile_dist_describe(comm, &info));
    driver::call("cuStreamCreate", &stream, 1u);
    const int64_t part = hidden / info.size, rows = tokens / info.size;
    load(hidden_load, gather.gemm), load(hidden_wait_load, gather.gemm_wait);
    load(output_load, scatter.gemm), load(sum_load, scatter.sum);
    const tile_dist_shape first = {tokens, part, features, TILE_DIST_BF16},
                          second = {tokens, features, part, TILE_DIST_BF16};
    checkDist(tile_dist_plan_create(comm, TILE_DIST_ALL_GATHER_GEMM, &first, &gather, TILE_DIST_AUTO, &firstLayer));
    checkDist(
        tile_dist_plan_create(comm, TILE_DIST_GEMM_REDUCE_SCATTER, &second, &scatter, TILE_DIST_AUTO, &secondLayer));
    own = x.upload(info.rank * rows, rows, 0, features, /*isTransposed=*/false);
    ownW1 = w1.upload(0, features, info.rank * part, part, /*isTransposed=*/true);
    ownW2 = w2.upload(info.rank * part, part, 0, features, /*isTransposed=*/true);
    h = driver::allocate<uint16_t>(size_t(tokens * part));
    y = driver::allocate<uint16_t>(size_t(rows * features));
    checkDist(tile_dist_barrier(comm)); // no rank allocates while another one's work waits for it
  }
  ~Rank() {
    tile_dist_plan_destroy(secondLayer);
    tile_dist_plan_destroy(firstLayer);
    tile_dist_destroy(comm);
    for (tile_kernel *kernel : {gather.gemm, gather.gemm_wait, scatter.gemm, scatter.sum})
      tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }

  void forward() {
    checkDist(tile_dist_run(firstLayer, stream, own, ownW1, h));
    checkDist(tile_dist_run(secondLayer, stream, h, ownW2, y));
    checkDist(tile_dist_synchronize(comm, stream));
  }

  /// Prints the relative error of the rank's rows of y, and returns whether it is within the roundings to bf16.
  bool isRight() const {
    const int64_t rows = tokens / info.size;
    const std::vector<uint16_t> found = driver::download(y, size_t(rows * features));
    double difference = 0, norm = 0;
    std::vector<double> between(hidden);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t unit = 0; unit < hidden; ++unit) {
        double sum = 0;
        for (int64_t i = 0; i < features; ++i)
          sum += x.value(info.rank * rows + row, i) * w1.value(i, unit);
        between[size_t(unit)] = std::max(sum, 0.0);
      }
      for (int64_t column = 0; column < features; ++column) {
        double expected = 0;
        for (int64_t unit = 0; unit < hidden; ++unit)
          expected += between[size_t(unit)] * w2.value(unit, column);
        const double error = Matrix::decode(found[size_t(row * features + column)]) - expected;
        difference += error * error;
        norm += expected * expected;
      }
    }
    constexpr double bound = 1e-2;
    const double error = std::sqrt(difference / norm);
    std::printf("rank %d of %d: %s, relative error %.1e (bound %.0e)\n", info.rank, info.size,
                error <= bound ? "ok" : "WRONG", error, bound);
    return error <= bound; // false for NaN
  }

private:
  template <typename Load> void load(Load loadKernel, tile_kernel *&kernel) {
    driver::check(loadKernel(runtime, &kernel));
  }

  tile_runtime *runtime = nullptr;
  tile_dist_comm *comm = nullptr;
  tile_dist_info info = {};
  tile_dist_kernels gather = {}, scatter = {};
  tile_dist_plan *firstLayer = nullptr, *secondLayer = nullptr;
  driver::Handle stream = nullptr;
  uint16_t *own = nullptr, *ownW1 = nullptr, *ownW2 = nullptr, *h = nullptr, *y = nullptr;
};

bool runRank(tile_dist_group *group, int number) {
  try {
    Rank rank(group, number);
    for (int run = 0; run < 3; ++run)
      rank.forward();
    return rank.isRight();
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return false;
  }
}

/// Returns the number of ranks from the command line; by default all GPUs. 0: the ranks are processes.
int chooseRanks(int count, char **words, bool isSimulated) {
  for (const char *variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"})
    if (count == 1 && std::getenv(variable))
      return 0;
  int devices = 0;
  driver::call("cuDeviceGetCount", &devices);
  const auto fits = [](int ranks) { return tokens % ranks == 0 && hidden % (8 * ranks) == 0; };
  int ranks = count == 2 ? std::atoi(words[1]) : isSimulated ? 2 : devices;
  while (count == 1 && !fits(ranks))
    --ranks;
  if (count > 2 || ranks < 1 || ranks > devices || !fits(ranks))
    throw std::runtime_error("usage: tensor-parallel-mlp [RANKS], with a GPU for each rank (there are " +
                             std::to_string(devices) + "), and a number that divides 240 and 120");
  return ranks;
}

} // namespace

int main(int count, char **words) try {
  tile_runtime *first = driver::open();
  const bool isSimulated = driver::deviceName() == "tile simulator";
  if (isSimulated)
    std::printf("There is no GPU here: running in the simulator\n");
  tile_runtime_destroy(first);
  const int ranks = chooseRanks(count, words, isSimulated);
  if (ranks == 0)
    return runRank(nullptr, 0) ? 0 : 1;
  tile_dist_group *group = nullptr;
  checkDist(tile_dist_group_create(ranks, &group));
  std::vector<char> right(size_t(ranks), 0);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { right[size_t(rank)] = runRank(group, rank); });
  for (std::thread &thread : threads)
    thread.join();
  tile_dist_group_destroy(group);
  return std::all_of(right.begin(), right.end(), [](char value) { return value != 0; }) ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 2;
}
