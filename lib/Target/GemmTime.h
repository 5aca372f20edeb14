// How long a configuration of a matrix product takes: the measured constants, and the formula that they are for.
//
// A tile's time is that of its K steps, each as long as the busiest of tensor cores, shared memory, L2 and power limit
// needs, plus a part that nothing overlaps; then the epilogue. Multiprocessors compute their tiles one after another.
// The whole is no faster than global memory allows. README.md has the formula, test/unit/Target the fit.
#pragma once

#include "Target/CostModel.h"
#include "Target/TailSplit.h"

#include <cmath>

namespace tile::target {

/// Rates and costs. Where limits meet, time is more than the largest and less than the sum: the 8-norm of them.
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

/// Collects times that overlap: their 8-norm.
class Overlap {
public:
  void add(double time, GemmLimit limit) {
    const double square = time * time, fourth = square * square;
    sum += fourth * fourth;
    if (time > largest) {
      largest = time;
      slowest = limit;
    }
  }
  double time() const { return std::sqrt(std::sqrt(std::sqrt(sum))); }
  GemmLimit limit() const { return slowest; }

private:
  double sum = 0, largest = 0;
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
  /// `problem` but for its sizes. `twoTiles`: a multiprocessor computes two tiles at a time, one's epilogue and waits
  /// under the other's products, by two CTAs, or by two math groups with a tile each (cta-ping-pong).
  GemmFormula(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const GemmConstants &constants,
              bool twoTiles = false);

  /// By the target's constants.
  static GemmFormula of(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

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
  /// At most as many, found without roots: for who looks for the least of many.
  double least(const Work &work) const;

  GemmEstimate estimate(const GemmSize &size) const;

private:
  struct Clocks {
    double l2, power;
  };
  Clocks changingClocks(const Work &work) const;
  Overlap atomClocks(const Work &work) const;
  double computeTime(const Work &work, double atomClocks) const;

  GemmConfig config;
  int64_t numSms;
  bool twoTiles;
  Divider blockM, blockN, blockK, multiprocessors;
  std::optional<TailSplit> tail; ///< nothing: the last round is not split
  double elementBytes, outputBytes;
  Overlap unchanging;         ///< of an atom: the limits that sizes do not move
  double leastAtom;           ///< clk, by these alone
  double energy;              ///< clk of an atom, for each element of the tile and each busy multiprocessor
  double ingest, l2;          ///< clk of an atom, for each row and column; l2: and for each busy multiprocessor
  double memory, pause;       ///< ns of a byte; ns
  double busy;                ///< ns that a step takes for each clock of an atom
  double gap, late, epilogue; ///< ns: of a step, of a step, of a tile
  double spills, fixed;
  int64_t missingRows; ///< at most as many rows of a block exist, and it is slower
};

} // namespace tile::target
