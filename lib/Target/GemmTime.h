// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the time of a GEMM configuration with the constants of Tuned.def.
//
// A tile's time is the sum of the times of its K steps, plus that of the epilogue. A K step takes as long as the
// busiest of tensor cores, shared memory, L2 and power limit, plus a part with which nothing overlaps. Each
// multiprocessor computes its tiles one after another. The time of global memory is a lower bound of the total.
// CostModel.md has the formula, and test/unit/Target has the fit.
#pragma once

#include "Target/CostModel.h"
#include "Target/TailSplit.h"
#include "Target/Tuned.h"

#include <cmath>

namespace tile::target {

/// The number of rows and columns of a configuration's tile that wgmma cannot read as TMA stores them. Threads read
/// `read` of them into registers, and transpose `stored` of them so that k is contiguous, in two alternating buffers.
struct TransposedLines {
  unsigned read = 0, stored = 0;
};
TransposedLines transposedLines(const GemmProblem &problem, const GemmConfig &config);

/// Returns the constants of kernels whose operands threads load, with wgmma or mma.sync, by cp.async or through
/// registers. These constants are good enough to rank configurations, but not to predict times.
const GemmConstants &threadConstants(const Tuned &tuned, bool warpGroups, bool asyncCopies);

/// Returns the number of registers per thread for accumulators and one K step. If the elements of the step pass through
/// registers, they are counted; otherwise one address per copy is counted.
unsigned registersOfStep(const GemmProblem &problem, const GemmConfig &config);
/// Returns false if ptxas would spill. For example, 128x128x32 with four warps spills 188 bytes if copies have 4 bytes,
/// and nothing if they have 8.
bool fitsRegisters(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Combines times that overlap into their 8-norm.
class Overlap {
public:
  void add(double time, GemmLimit limit) {
    const double square = time * time, fourth = square * square;
    sum += fourth * fourth;
    if (time > most) {
      most = time;
      slowest = limit;
    }
  }
  double time() const { return std::sqrt(std::sqrt(std::sqrt(sum))); }
  double largest() const { return most; }
  GemmLimit limit() const { return slowest; }

private:
  double sum = 0, most = 0;
  GemmLimit slowest = GemmLimit::Fixed;
};

/// A divisor for many divisions by the same number, with a precomputed inverse.
class Divider {
public:
  explicit Divider(unsigned divisor) : divisor(divisor), inverse(1.0 / divisor) {}
  /// Requires 0 <= number < 2^51. Half of the inverse, which is added, exceeds all rounding errors.
  int64_t divide(int64_t number) const { return static_cast<int64_t>((double(number) + 0.5) * inverse); }
  /// Divides and rounds up.
  int64_t ceilDiv(int64_t number) const { return divide(number + divisor - 1); }

private:
  int64_t divisor;
  double inverse;
};

/// The formula for one kernel. Everything that does not depend on the sizes is precomputed, because a launcher
/// evaluates the formulas of many kernels whenever a launch has new sizes. Evaluation does not allocate memory.
class GemmFormula {
public:
  /// The sizes of `problem` are ignored. `tilesAtATime`: the number of tiles that a multiprocessor computes at the same
  /// time, in several CTAs or by two warp groups with a tile each (cta-ping-pong), so that epilogues and waits of some
  /// overlap the MMAs of others. `ctasPerTile`: the number of multiprocessors that compute each tile and share L2 and
  /// power (cta-share-steps); the time is that of one of them.
  GemmFormula(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const GpuTarget &target,
              const GemmConstants &constants, bool warpGroups, unsigned tilesAtATime = 1, unsigned ctasPerTile = 1);

  /// Returns the formula for a configuration, with the target's constants.
  static GemmFormula of(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                        unsigned ctasPerTile = 1);

  /// The work of a GEMM.
  struct Work {
    GemmSize size;
    int64_t tiles, steps, rounds; ///< number of all tiles; K steps of each tile; tiles of the busiest multiprocessor
    bool isSplit;                 ///< whether the tiles of the last wave are split
    double waves, maxSteps; ///< for the busiest multiprocessor: number of tiles, whole and partial, and of K steps
    double memory;          ///< ns of HBM traffic
  };
  /// Sizes must be from 1 to 2^31.
  Work workFor(const GemmSize &size) const;

  double nanoseconds(const Work &work) const;

  GemmEstimate estimate(const GemmSize &size) const;

private:
  friend class LeastTimes;
  double linesOf(bool kMajor, int64_t rowElements) const;
  Overlap atomClocks(const Work &work) const;
  double computeTime(const Work &work, double atomClocks) const;

  GemmConfig config;
  int64_t numSms, ctasPerTile;
  double tilesAtATime, crowded, shortRows;
  bool splitOnlyRound;
  bool aKMajor, bKMajor;
  Divider blockM, blockN, blockK, multiprocessors;
  std::optional<TailSplit> tail; ///< nullopt if the last wave is not split
  double elementBytes, outputBytes;
  int64_t elementsOfLine; ///< elements of a line of L2
  Overlap unchanging;     ///< the limits of an atom that are the same for all sizes
  double energy;          ///< clk of an atom, per element of the tile and busy multiprocessor
  double ingest, l2;      ///< clk of an atom, per row and column of the tile; `l2` also per busy multiprocessor
  double narrowA,
      narrowB; ///< fractions of a and b that are added to the bytes from HBM, because small chunks take longer
  double memory, writes, pause;                  ///< ns per byte read, ns per byte written, ns of a pause
  double busy;                                   ///< ns of a step per cycle of an atom
  double gap, late, epilogue;                    ///< ns per step, per step and per tile
  double minStep;                                ///< ns until a slot is filled while all other slots are in flight
  double straddlingLines, missingLines, l2Bytes; ///< constants from Tuned.def
  double spills, fixed;
};

} // namespace tile::target
