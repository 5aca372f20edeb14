// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a configuration of a matrix product takes, by the constants of Tuned.def.
//
// A tile's time is that of its K steps, each as long as the busiest of tensor cores, shared memory, L2 and power limit
// needs, plus a part that nothing overlaps; then the epilogue. Multiprocessors compute their tiles one after another.
// The whole is no faster than global memory allows. CostModel.md has the formula, test/unit/Target the fit.
#pragma once

#include "Target/CostModel.h"
#include "Target/TailSplit.h"
#include "Target/Tuned.h"

#include <cmath>

namespace tile::target {

/// Rows and columns of a configuration's tile that warp groups do not take as TMA brings them: read into registers, and
/// stored with k contiguous, in two buffers by turns.
struct TurnedLines {
  unsigned read = 0, stored = 0;
};
TurnedLines turnedLines(const GemmProblem &problem, const GemmConfig &config);

/// For kernels whose operands threads load: good for the order of configurations, not for times. By warp groups or else
/// by mma.sync; without cp.async, for operands that go through registers.
const GemmConstants &threadConstants(const Tuned &tuned, bool warpGroups, bool asyncCopies);

/// Registers of a thread that sums take, and a step's elements, if they pass through them, else their addresses: one
/// for each copy.
unsigned registersOfStep(const GemmProblem &problem, const GemmConfig &config);
/// Else ptxas spills: 128x128x32 by four warps 188 bytes, with copies of 4 bytes, and nothing with copies of 8.
bool fitsRegisters(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Collects times that overlap: their 8-norm.
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

/// Divides quickly by the same number again and again.
class Divider {
public:
  explicit Divider(unsigned divisor) : divisor(divisor), inverse(1.0 / divisor) {}
  /// 0 <= number < 2^51: half of the divisor's inverse is more than all rounding.
  int64_t divide(int64_t number) const { return static_cast<int64_t>((double(number) + 0.5) * inverse); }
  /// Rounded up.
  int64_t ceilDiv(int64_t number) const { return divide(number + divisor - 1); }

private:
  int64_t divisor;
  double inverse;
};

/// The formula for one kernel, with all that sizes do not change worked out: a launcher asks for many kernels, and for
/// new sizes again and again. Touches no heap.
class GemmFormula {
public:
  /// `problem` but for its sizes. `tilesAtATime`: so many a multiprocessor computes, the epilogues and waits of some
  /// under the others' products, by several CTAs, or by two math groups with a tile each (cta-ping-pong).
  /// `ctasPerTile`: so many multiprocessors are busy with each, and share L2 and power (cta-share-steps); the time is
  /// that of one alone.
  GemmFormula(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const Tuned &tuned,
              const GemmConstants &constants, bool warpGroups, unsigned tilesAtATime = 1, unsigned ctasPerTile = 1);

  /// By the target's constants.
  static GemmFormula of(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                        unsigned ctasPerTile = 1);

  /// What there is to do for a product.
  struct Work {
    GemmSize size;
    int64_t tiles, steps, rounds; ///< all tiles; K steps of each; tiles of the busiest multiprocessor
    bool isSplit;                 ///< the last tiles are shared
    double waves, mostSteps;      ///< whole and parts of tiles, and K steps, of the busiest multiprocessor
    double memory;                ///< ns that HBM takes
  };
  /// Sizes are at least 1 and at most 2^31.
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
  std::optional<TailSplit> tail; ///< nothing: the last wave is not split
  double elementBytes, outputBytes;
  int64_t elementsOfLine;       ///< of L2
  Overlap unchanging;           ///< of an atom: the limits that sizes do not move
  double energy;                ///< clk of an atom, for each element of the tile and each busy multiprocessor
  double ingest, l2;            ///< clk of an atom, for each row and column; l2: and for each busy multiprocessor
  double narrowA, narrowB;      ///< what is read from HBM in addition, of a and of b, if short pieces take longer
  double memory, writes, pause; ///< ns of a byte that is read, of one that is written; ns
  double busy;                  ///< ns that a step takes for each clock of an atom
  double gap, late, epilogue;   ///< ns: of a step, of a step, of a tile
  double leastStep;             ///< ns: for what a slot holds to arrive, if all others are on their way
  double straddlingLines, missingLines, l2Bytes; ///< of Tuned.def
  double spills, fixed;
};

} // namespace tile::target
