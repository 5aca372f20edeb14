// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks for the examples on several GPUs: threads with a GPU each, or processes that torchrun, mpirun or srun have
// started. Without a GPU, ranks are threads in the simulator, which has eight devices.
#pragma once

#include "driver.h"

#include <tile/tile_dist.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

namespace ranks {

inline void check(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_dist_last_error());
}

/// The state of a rank: a GPU, and a connection to the other ranks.
class Rank {
public:
  /// `group` is the group of the threads. It is null if ranks are processes; the rank's number then comes from the
  /// environment.
  Rank(tile_dist_group *group, int number) {
    driver::check(tile_runtime_create(driver::find, nullptr, &runtime));
    tile_dist_options options = {};
    options.runtime = runtime;
    options.device = -1;
    options.timeout_milliseconds = 20000;
    options.lookup = driver::find;
    // Ranks without peer access need NCCL; in the simulator no NCCL can access the devices.
    options.transport = driver::deviceName() == "tile simulator" ? TILE_DIST_COPIES : TILE_DIST_ANY;
    check(group ? tile_dist_connect_threads(group, number, &options, &comm)
                : tile_dist_connect_environment(tile_dist_getenv, nullptr, &options, &comm));
    check(tile_dist_describe(comm, &info));
    driver::call("cuStreamCreate", &stream, 1u);
  }
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;
  /// Disconnects the rank. All plans must already have been destroyed.
  ~Rank() {
    tile_dist_destroy(comm);
    for (tile_kernel *kernel : kernels)
      tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }

  template <typename Load> tile_kernel *load(Load loadKernel) {
    tile_kernel *kernel = nullptr;
    driver::check(loadKernel(runtime, &kernel));
    kernels.push_back(kernel);
    return kernel;
  }
  /// Ends the set-up. Waits for the uploads, because the stream does not wait for them. Also waits for the other ranks,
  /// because a rank must not allocate memory while work of another rank waits for the allocating rank.
  void finishSetUp() const {
    driver::call("cuCtxSynchronize");
    check(tile_dist_barrier(comm));
  }
  void synchronize() const { check(tile_dist_synchronize(comm, stream)); }
  /// Prints the relative error of the rank's result, and returns whether rounding to bf16 explains it.
  bool report(double error) const {
    constexpr double bound = 1e-2;
    std::printf("rank %d of %d: %s, relative error %.1e (bound %.0e)\n", info.rank, info.size,
                error <= bound ? "ok" : "WRONG", error, bound);
    return error <= bound; // false for NaN
  }

  tile_dist_comm *comm = nullptr;
  tile_dist_info info = {};
  driver::Handle stream = nullptr;

private:
  tile_runtime *runtime = nullptr;
  std::vector<tile_kernel *> kernels;
};

inline double fromBf16(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// A matrix of bf16 values between -scale and scale, which are equal on every rank.
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
  double value(int64_t row, int64_t column) const { return fromBf16(bits(row, column)); }
  /// Uploads a block of rows and columns, transposed if `isTransposed`, as weights are stored.
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

/// A program that runs on several ranks.
struct Program {
  std::string name, numbers; ///< the supported numbers of ranks, for messages
  std::function<bool(int ranks)> fits;
  /// runs one rank; returns true if its result is correct
  std::function<bool(tile_dist_group *group, int number)> body;
};

/// Returns the number of ranks from the command line, by default the number of GPUs; or 0 if ranks are processes.
inline int chooseRanks(const Program &program, int count, char **words, bool isSimulated) {
  for (const char *variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"})
    if (count == 1 && std::getenv(variable))
      return 0;
  int devices = 0;
  driver::call("cuDeviceGetCount", &devices);
  int ranks = count == 2 ? std::atoi(words[1]) : isSimulated ? 2 : devices;
  while (count == 1 && !program.fits(ranks))
    --ranks;
  if (count > 2 || ranks < 1 || ranks > devices || !program.fits(ranks))
    throw std::runtime_error("usage: " + program.name + " [RANKS], with a GPU for each rank (there are " +
                             std::to_string(devices) + "), and a number that divides " + program.numbers);
  return ranks;
}

/// Runs the program; to be called by its main function.
inline int run(const Program &program, int count, char **words) try {
  tile_runtime *first = driver::open();
  const bool isSimulated = driver::deviceName() == "tile simulator";
  if (isSimulated)
    std::printf("There is no GPU here: running in the simulator\n");
  tile_runtime_destroy(first);
  const auto runRank = [&](tile_dist_group *group, int number) {
    try {
      return program.body(group, number);
    } catch (const std::exception &failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      return false;
    }
  };
  const int ranks = chooseRanks(program, count, words, isSimulated);
  if (ranks == 0)
    return runRank(nullptr, 0) ? 0 : 1;
  tile_dist_group *group = nullptr;
  check(tile_dist_group_create(ranks, &group));
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

} // namespace ranks
