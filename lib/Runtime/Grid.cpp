// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks grids. The programs of a persistent kernel are not thread blocks, so CUDA's limits on grids do not apply to
// them.
#include "Runtime/Grid.h"

#include <algorithm>
#include <iterator>

namespace tile::runtime {
namespace {

constexpr int64_t largestSize = 2147483647; // dimension of a persistent kernel's grid, an i32
// Each block of a persistent kernel counts programs in 32 bits. Its counter may exceed the number of programs by up to
// twice the number of blocks.
constexpr int64_t maxPrograms = largestSize - 65536;
// Limit of programs along y and z, so that addresses with large steps per program have 32-bit indices
// (lib/Analysis/Addresses/IndexBounds.cpp).
constexpr int64_t largestOuterPrograms = 1 << 22;
constexpr int64_t largestGrid[3] = {2147483647, 65535, 65535}; // CUDA programming guide, "Technical specifications"

int64_t largest(const LaunchInfo &launch, int dimension) {
  if (launch.persistent)
    return dimension == 0 ? largestSize : largestOuterPrograms;
  return dimension == 0 ? largestGrid[0] / blocksPerProgram(launch) : largestGrid[dimension];
}

} // namespace

int64_t blocksPerProgram(const LaunchInfo &launch) {
  return !launch.persistent && launch.programsPerCluster[0] != 0 ? launch.cluster[0] : 1;
}

GridFailure checkGrid(const LaunchInfo &launch, const int64_t grid[3]) {
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 0 || grid[i] > largest(launch, i))
      return {GridFailure::Limit::Size, i};
    if (!launch.persistent && launch.programsPerCluster[0] == 0 && grid[i] % launch.cluster[i] != 0)
      return {GridFailure::Limit::Cluster, i};
  }
  const int64_t plane = launch.persistent ? grid[0] * grid[1] : 0; // below 2^62
  if (grid[2] != 0 && plane > maxPrograms / grid[2])
    return {GridFailure::Limit::Programs, 0};
  return {};
}

void describe(const GridFailure &failure, const LaunchInfo &launch, const int64_t grid[3], fmt::memory_buffer &text) {
  const int i = failure.dimension;
  const auto out = std::back_inserter(text);
  switch (failure.limit) {
  case GridFailure::Limit::None:
    return;
  case GridFailure::Limit::Size:
    fmt::format_to(out, "grid dimension {} is {}; expected 0 to {}", i, grid[i], largest(launch, i));
    return;
  case GridFailure::Limit::Cluster:
    fmt::format_to(out, "grid dimension {} is {}, which is not a multiple of the cluster's {}", i, grid[i],
                   launch.cluster[i]);
    return;
  case GridFailure::Limit::Programs:
    fmt::format_to(out, "the grid {}x{}x{} has too many programs for a persistent kernel, which counts up to {}",
                   grid[0], grid[1], grid[2], maxPrograms);
    return;
  }
}

int64_t residentBlocks(const LaunchInfo &launch, int multiprocessors) {
  const int64_t cluster = launch.cluster[0];
  return std::max(multiprocessors * launch.ctasPerSm / cluster * cluster, cluster);
}

} // namespace tile::runtime
