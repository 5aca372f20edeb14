// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule by which cta-share-steps splits the tiles of the last, partial wave; shared by the pass and the cost model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tile::target {

struct TailShare {
  int64_t ownSteps;  ///< The number of K steps of each tile that the tile's owner executes, from the first one on;
                     ///< helpers execute the others.
  int64_t lostSteps; ///< The cost of splitting for the owner, in K steps.
};

/// The cost of splitting, in K steps of one tile. Cycles are set by hand for an H200: bench/results/h200/tails.md.
struct TailSplit {
  /// The maximum number of parts of a tile, because its owner adds the accumulators of the other parts one after
  /// another.
  static constexpr int64_t maxParts = 4;
  /// A limit that keeps tail * (steps + piece) below 2^31 on up to 2047 multiprocessors.
  static constexpr int64_t maxSteps = 1 << 20;
  /// The minimum number of cycles of a K step. Tiles with shorter steps, such as those smaller than 128x128 by 64,
  /// belong to small problems, where computing the schedule takes longer than splitting saves.
  static constexpr int64_t minStepClocks = 512;
  /// The minimum ratio of gain to cost if the split wave is the only one.
  static constexpr int64_t onlyWave = 3;

  int64_t sum;   ///< cost of writing a tile's partial accumulator to memory, or of adding one
  int64_t piece; ///< cost of each part for a helper: moving the accumulator, and MMAs that do not overlap with loads
  int64_t fixed; ///< cost of distributing the steps, and of waiting

  TailSplit(int64_t sum, int64_t piece, int64_t fixed) : sum(sum), piece(piece), fixed(fixed) {}

  /// `elements` is the number of fp32 elements of a tile, `stepBytes` the size of one step along K.
  TailSplit(int64_t elements, int64_t stepBytes) {
    constexpr int64_t sumBytesPerClock = 30, pieceClocks = 1500, fixedClocks = 9000;
    int64_t sumClocks = elements * int64_t(sizeof(float)) / sumBytesPerClock, step = stepClocks(elements, stepBytes);
    auto inSteps = [&](int64_t clocks) { return (clocks + step - 1) / step; };
    sum = inSteps(sumClocks);
    piece = inSteps(sumClocks + pieceClocks);
    fixed = inSteps(fixedClocks);
  }

  /// Returns the minimum number of cycles of a step. A cycle has 2048 multiply-adds of 16-bit operands, or 4096 of
  /// 8-bit ones.
  static int64_t stepClocks(int64_t elements, int64_t stepBytes) {
    return std::max<int64_t>(elements * stepBytes / 4096, 1);
  }

  /// The maximum number of steps of tiles that are never split.
  int64_t minSteps() const { return sum + fixed; }

  /// Returns the number of steps from which a split into `parts` parts gains at least as much as one into parts - 1.
  int64_t stepsFor(int64_t parts) const { return parts * (parts - 1) * sum; }

  /// Returns how `tail` tiles of `steps` K steps are split over `ctas` multiprocessors, after `waves` full waves;
  /// nullopt if splitting gains nothing. Requires 0 < tail < ctas.
  std::optional<TailShare> share(int64_t waves, int64_t tail, int64_t steps, int64_t ctas) const {
    int64_t parts = 1;
    while (parts < maxParts && steps >= stepsFor(parts + 1))
      ++parts;
    parts = std::min(parts, ctas / tail);
    // With equal parts, helpers of neighbouring tiles work at the same position along K, so they share data in L2.
    // Otherwise, a helper has parts of several tiles.
    int64_t own = parts > 1 ? steps - (parts - 1) * (steps / parts) : (tail * (steps + piece) + ctas - 1) / ctas;
    int64_t lost = std::max<int64_t>(parts - 1, 1) * sum + fixed;
    bool pays = own + lost * (waves > 0 ? 1 : onlyWave) < steps;
    return steps < maxSteps && pays ? std::optional(TailShare{own, lost}) : std::nullopt;
  }
};

} // namespace tile::target
