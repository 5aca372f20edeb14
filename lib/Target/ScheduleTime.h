// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the time of a compiled GEMM kernel with its schedule, at any sizes. In contrast, estimateGemm assumes that
// the kernel was chosen for the sizes; a launcher with several kernels evaluates each of them at whatever sizes it
// gets.
#pragma once

#include "Target/PingPong.h"
#include "Target/StepSplit.h"

#include <limits>

namespace tile::target {

/// The way in which a kernel iterates over its tiles.
struct GemmSchedule {
  bool persistent = true;   ///< few CTAs compute all tiles; otherwise each tile has a separate CTA
  bool pingPong = false;    ///< two teams of warps alternate (cta-ping-pong)
  unsigned ctasPerTile = 1; ///< CTAs of a cluster that split the K steps of a tile (cta-share-steps)

  bool operator==(const GemmSchedule &) const = default;
};

/// The formula for a kernel with this configuration and schedule. Everything that does not depend on the sizes is
/// precomputed. problem.splitTail says whether the kernel can split the last wave (cta-share-steps).
class ScheduleFormula {
public:
  ScheduleFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                  const GemmSchedule &schedule);

  /// Sizes below one are treated as one; sizes are clamped to 32 bits.
  static GemmSize clamp(GemmSize size);
  /// Does not allocate.
  double microseconds(const GemmSize &size) const;

private:
  friend class LeastTimes;

  GemmFormula tiles;
  std::optional<PingPongFormula> pingPong;
  double cluster;     ///< us of one synchronization of a cluster
  double start;       ///< us
  double change;      ///< us between two tiles of a multiprocessor, in addition to the tiles' times
  double unusedSplit; ///< us of a tail that could be split but is not
};

/// Evaluates the formula for one configuration and one size.
double estimateSchedule(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                        const GemmSchedule &schedule);

} // namespace tile::target
