// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two consumer warp groups should alternate between tiles (cta-ping-pong) instead of sharing one.
#pragma once

#include "Target/GemmTime.h"

namespace tile::target {

/// The configuration for two teams of four warps with a tile each, 128x128 where the choices leave that open; none if
/// there is no legal one.
std::optional<GemmEstimate> findPingPong(const GpuTarget &target, const GemmProblem &problem, GemmChoices choices);

/// Whether it is expected to be faster than `best`, the cheapest of the others: for few K steps, which do not hide an
/// epilogue, and several tiles a multiprocessor.
bool prefersPingPong(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &best,
                     const GemmEstimate &pingPong);

/// Where it was measured to gain on an H200 with 16-bit operands: 2 % at K = 256, 4 to 14 % at 512, 2 to 10 % at 1024
/// with many tiles (of 1536x8192x1024, 6 tiles a multiprocessor, nothing), nothing from 2048 on.
struct PingPongGain {
  static constexpr int64_t mostK = 1024, shortK = 512;
  static constexpr int64_t manyTiles = 6; ///< a multiprocessor; beyond shortK
  /// The formula knows waves and limits, but underestimates epilogues: of what it prices 7 % higher (2048x2048x512),
  /// ping-pong took 6 % less.
  static constexpr double underestimate = 1.07;
};

/// What teams are expected to take, as prefersPingPong compares it; where no gain was measured, as long as one of the
/// teams.
class PingPongFormula {
public:
  PingPongFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

  GemmFormula::Work workFor(const GemmSize &size) const { return turns.workFor(size); }
  double nanoseconds(const GemmFormula::Work &work) const;

private:
  friend class LeastTimes;
  bool gains(const GemmFormula::Work &work) const;

  GemmFormula turns, alone;
  bool isMeasured; ///< for this tile and these types
  int64_t numSms;
};

} // namespace tile::target
