// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program with which tile's mixtures of experts are compared: NCCL, and cuBLAS with one GEMM for each expert or one
// grouped call. Here the host knows how many rows each expert has; a real program would have to wait for these numbers.
// The other kernels are the same as tile's.
//
//   routed     (token, expert) pairs, sorted by expert, in an all-to-all each way
//   gathered   an all-gather of all tokens, and a reduce-scatter of the sums
#pragma once

#include "Baseline.h"
#include "Moe.h"

namespace across {

class MoeBaseline {
public:
  MoeBaseline(Moe &moe, const MoeCase &work, const Moe::Routed &routed, const Moe::Buffers &buffers);
  ~MoeBaseline();

  /// Returns false, with a message, if cuBLAS has no grouped GEMMs in bf16.
  bool hasGrouped();
  void runRouted(bool isGrouped);
  void runGathered(bool isGrouped);
  /// Runs only the all-to-all of pairs, in one direction.
  void exchangeAlone() { baseline.exchange(stream, toExperts, atExperts); }
  void multiplyAlone(bool isGrouped) { multiply(isGrouped); }
  /// Computes the experts' layers with tile's kernels.
  void multiplyByTile();

private:
  /// Sorts `count` pairs by expert (`sort`), and copies tokens to the rows of the `local` experts from `first` on
  /// (`expand`).
  void sort(Address ids, int64_t count, int64_t first, int64_t local);
  void expand(Address x, Address ids, Address slots, Address rows, int64_t count, int64_t topK, int64_t first,
              int64_t local);
  void multiply(bool isGrouped);
  void makeGroups();
  void makeParts();
  template <typename... Arguments> void launch(tile_kernel *kernel, Arguments... arguments) {
    void *pointers[] = {&arguments...};
    tile_launch_options options = {};
    options.stream = stream;
    checkRuntime(tile_launch(kernel, &options, pointers, sizeof...(arguments)));
  }
  Memory *allocate(size_t bytes) {
    memory.push_back(std::make_unique<Memory>(std::max<size_t>(bytes, 16)));
    return memory.back().get();
  }

  Moe &moe;
  Rank &rank;
  Baseline &baseline;
  const MoeCase &work;
  const Moe::Routed &routed;
  const Moe::Buffers &buffers;
  Handle stream;
  tile_kernel *activation = nullptr;
  const int64_t local, pairs;
  std::vector<int64_t> starts; ///< where the rows of each of this rank's experts start
  std::vector<std::unique_ptr<Memory>> memory;
  Memory *counts, *startsThere, *slots, *none;         ///< buffers of `sort`
  Memory *sorted, *returned;                           ///< this rank's pairs, and their results
  Memory *arrived, *rows, *between, *active, *results; ///< rows of this rank's experts
  Memory *to, *back, *zeros;                           ///< rows of arrived pairs, and the inverse
  Memory *everyone, *everyIds, *everyWeights, *sums;   ///< data of all ranks' tokens
  Memory *tables[2];
  std::vector<Baseline::Group> layers[2];
  std::vector<Baseline::Part> toExperts, atExperts, fromExperts, home;
};

} // namespace across
