// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of a cluster of CTAs: "#: cluster = (2, 1)", --cluster=2x1.
#pragma once

#include <array>

namespace tile::frontend {

/// The numbers of CTAs in each dimension of a cluster. In the first two dimensions, the CTAs run programs that are
/// adjacent along the first and second axis of the grid; in the third, they split K of one program.
using ClusterShape = std::array<int, 3>;

/// Represents `auto`.
constexpr ClusterShape openCluster = {0, 0, 0};

/// CUDA programming guide, "Thread Block Clusters": clusters of up to 8 CTAs are portable.
constexpr bool isCluster(const ClusterShape &shape) {
  constexpr int mostCtas = 8;
  int ctas = 1;
  for (int extent : shape) {
    if (extent != 1 && extent != 2 && extent != 4 && extent != 8)
      return false;
    ctas *= extent;
  }
  return ctas <= mostCtas;
}

} // namespace tile::frontend
