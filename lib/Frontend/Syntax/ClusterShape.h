// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many CTAs of a cluster share what: "#: cluster = (2, 1)", --cluster=2x1.
#pragma once

#include <array>

namespace tile::frontend {

/// CTAs with neighbouring programs along the first and the second axis of the grid, and CTAs that share the steps of
/// one program along k.
using ClusterShape = std::array<int, 3>;

/// The shape that says `auto`.
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
