// How long a configuration of a matrix product takes: the measured constants, and the formula that they are for.
//
// A tile's time is that of its K steps, each as long as the busiest of tensor cores, shared memory, L2 and power limit
// needs, plus a part that nothing overlaps; then the epilogue. Multiprocessors compute their tiles one after another.
// The whole is no faster than global memory allows. README.md has the formula, test/unit/Target the fit.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Rates and costs. Where limits meet, time is more than the largest and less than the sum: the p-norm of them.
struct GemmConstants {
  double clockGHz;     ///< of the multiprocessors while a short kernel runs
  double smPort;       ///< B/clk: what one shared memory reads or writes
  double smIngest;     ///< B/clk: what one multiprocessor takes from L2
  double l2;           ///< B/clk: what L2 gives to all multiprocessors together
  double memory;       ///< B/ns: what HBM gives
  double pause;        ///< ns between two tiles of a multiprocessor in which nothing is read from HBM
  double power;        ///< FLOP/ns that the card sustains on random data, 16-bit operands
  double step;         ///< clk of a K step that nothing overlaps: waits and issue
  double copy;         ///< clk of a warp's instruction that copies an operand; 0 for TMA
  double late;         ///< clk: what a step waits if one warp group alone releases its slots
  double launch;       ///< ns from launch to the first operand, and from the last store to the end
  double epilogue;     ///< ns per tile: wait for the last product, synchronise the store
  double epilogueRate; ///< B/clk that one warp group converts and stores
  double sharpness;    ///< p of the norm
};

/// From wgmma kernels on an H200.
const GemmConstants &wgmmaConstants();
/// For mma.sync kernels of all targets: good for the order of configurations, not for times. Without cp.async, for
/// operands that go through registers.
const GemmConstants &mmaSyncConstants(bool asyncCopies);

/// Registers of a thread that sums and, if a step's elements pass through them, these take, without addresses and
/// masks.
unsigned registersOfStep(const GemmProblem &problem, const GemmConfig &config);
/// More than these and ptxas spills.
constexpr unsigned mostRegistersOfStep = 112;

/// `twoTiles`: a multiprocessor computes two tiles at a time, one's epilogue and waits under the other's products, by
/// two CTAs, or by two math groups with a tile each (cta-ping-pong).
GemmEstimate estimateGemm(const GemmProblem &problem, const GemmConfig &config, unsigned numSms,
                          const GemmConstants &constants, bool twoTiles = false);

} // namespace tile::target
