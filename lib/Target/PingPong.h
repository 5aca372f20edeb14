// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether two consumer warp groups alternate between tiles (cta-ping-pong) instead of sharing one.
#pragma once

#include "Target/GemmTime.h"

namespace tile::target {

/// Returns the configuration for two teams of four warps with a tile each, 128x128 unless the choices fix it; nullopt
/// if no such configuration is legal.
std::optional<GemmEstimate> findPingPong(const GpuTarget &target, const GemmProblem &problem, GemmChoices choices);

/// Returns true if ping-pong is expected to be faster than `best`, the cheapest configuration without it: with few K
/// steps, which do not hide an epilogue, and several tiles per multiprocessor.
bool prefersPingPong(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &best,
                     const GemmEstimate &pingPong);

/// The range in which ping-pong gains on an H200 with 16-bit operands, as measured: 2 % at K = 256, 4 to 14 % at 512, 2
/// to 10 % at 1024 with many tiles (nothing for 1536x8192x1024, 6 tiles per multiprocessor), nothing from 2048 on.
struct PingPongGain {
  static constexpr int64_t maxK = 1024, shortK = 512;
  static constexpr int64_t manyTiles = 6; ///< tiles per multiprocessor; beyond shortK
  /// The formula includes waves and limits, but underestimates epilogues: where it predicts 7 % more (2048x2048x512),
  /// ping-pong took 6 % less.
  static constexpr double underestimate = 1.07;
};

/// The expected time with ping-pong, as prefersPingPong compares it; if no gain was measured, the time of one team.
class PingPongFormula {
public:
  PingPongFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

  GemmFormula::Work workFor(const GemmSize &size) const { return pingPong.workFor(size); }
  double nanoseconds(const GemmFormula::Work &work) const;

private:
  friend class LeastTimes;
  bool gains(const GemmFormula::Work &work) const;

  GemmFormula pingPong, alone;
  bool isMeasured; ///< whether this tile and these types were measured
  int64_t numSms;
};

} // namespace tile::target
