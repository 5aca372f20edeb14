// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiled product takes, with all that its kernel was compiled to do: estimateGemm prices tiles, and takes for
// granted that a kernel suits the sizes; a launcher that chooses between kernels meets them with any.
#pragma once

#include "Target/PingPong.h"
#include "Target/StepSplit.h"

#include <limits>

namespace tile::target {

/// How a kernel goes through its tiles.
struct GemmSchedule {
  bool persistent = true;   ///< few CTAs work off all tiles; else each tile has its own
  bool pingPong = false;    ///< two teams of warps take turns (cta-ping-pong)
  unsigned ctasPerTile = 1; ///< CTAs of a cluster that share the K steps of a tile (cta-share-steps)

  bool operator==(const GemmSchedule &) const = default;
};

/// The time of a kernel with this configuration and schedule, with all that sizes do not change worked out;
/// problem.splitTail says whether it can share the last tiles (cta-share-steps).
class ScheduleFormula {
public:
  ScheduleFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                  const GemmSchedule &schedule);

  /// Sizes below one count as one, and of those beyond 32 bits nothing changes.
  static GemmSize clamp(GemmSize size);
  /// Touches no heap.
  double microseconds(const GemmSize &size) const;

private:
  friend class LeastTimes;

  GemmFormula tiles;
  std::optional<PingPongFormula> turns;
  double meeting;     ///< us of a round of clusters
  double start;       ///< us
  double change;      ///< us between two tiles of a multiprocessor, beside what the tiles take
  double unusedSplit; ///< us, where a split tail is whole
};

/// Once.
double estimateSchedule(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                        const GemmSchedule &schedule);

} // namespace tile::target
