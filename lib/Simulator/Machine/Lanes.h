// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lanes of a warp, and sets of lanes.
#pragma once

#include <bit>
#include <cstdint>

namespace tile::sim {

constexpr unsigned warpSize = 32;
using LaneMask = uint32_t; ///< bit i: lane i
constexpr LaneMask allLanes = ~LaneMask(0);
constexpr unsigned warpsInGroup = 4; ///< warps of a warp group

/// Calls `function(lane)` for each lane of the mask, in order. For a full warp this is a plain loop, which vectorises.
template <typename Function> inline void forLanes(LaneMask mask, Function &&function) {
  if (mask == allLanes) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      function(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    function(unsigned(std::countr_zero(mask)));
}

inline unsigned firstLane(LaneMask mask) {
  return std::countr_zero(mask);
}

} // namespace tile::sim
