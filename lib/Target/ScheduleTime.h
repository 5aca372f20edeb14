// What a compiled product takes, with all that its kernel was compiled to do: estimateGemm prices tiles, and takes for
// granted that a kernel suits the sizes; a launcher that chooses between kernels meets them with any.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// How a kernel goes through its tiles.
struct GemmSchedule {
  bool persistent = true;   ///< few CTAs work off all tiles; else each tile has its own
  bool pingPong = false;    ///< two teams of warps take turns (cta-ping-pong)
  unsigned ctasPerTile = 1; ///< CTAs of a cluster that share the K steps of a tile (cta-split-steps)

  bool operator==(const GemmSchedule &) const = default;
};

/// Microseconds of a kernel with this configuration and schedule; problem.splitTail says whether it can share the last
/// tiles (cta-stream-k). Sizes below one count as one.
double estimateSchedule(const GpuTarget &target, GemmProblem problem, const GemmConfig &config,
                        const GemmSchedule &schedule);

} // namespace tile::target
