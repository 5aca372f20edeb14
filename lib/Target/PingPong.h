// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether two consumer warp groups alternate between tiles (cta-ping-pong) instead of sharing one.
#pragma once

#include "Target/GemmTime.h"

namespace tile::target {

/// Returns the best configuration for two teams of four warps that each have their own tile, of 128x128 unless the
/// choices fix its size; nullopt if no such configuration is legal.
std::optional<GemmEstimate> findPingPong(const GpuTarget &target, const GemmProblem &problem, GemmChoices choices);

/// Returns true if ping-pong is expected to be faster than `best`, the configuration with the lowest estimate without
/// it. Ping-pong gains if there are few K steps, which do not hide an epilogue, and several tiles per multiprocessor.
bool prefersPingPong(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &best,
                     const GemmEstimate &pingPong);

/// The range in which ping-pong gains, as measured on an H200 with 16-bit operands: 2 % at K = 256, 4 to 14 % at K =
/// 512, 2 to 10 % at K = 1024 with many tiles (but nothing for 1536x8192x1024, with 6 tiles per multiprocessor),
/// nothing from K = 2048 on.
struct PingPongGain {
  static constexpr int64_t maxK = 1024, shortK = 512;
  static constexpr int64_t manyTiles = 6; ///< tiles per multiprocessor that are required beyond shortK
  /// The formula includes waves and limits, but underestimates epilogues: where it predicts 7 % more (2048x2048x512),
  /// ping-pong took 6 % less.
  static constexpr double underestimate = 1.07;
};

/// Computes the expected time with ping-pong, as prefersPingPong compares it. If no gain was measured, this is the time
/// of one team.
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
