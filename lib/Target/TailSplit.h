// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How cta-share-steps splits the tiles of the last, partly filled wave: the rule that the pass and the cost model
// share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tile::target {

struct TailShare {
  int64_t ownSteps;  ///< The first steps of each tile, which its owner does; helpers do the others.
  int64_t lostSteps; ///< K steps that take as long as what splitting costs the owner.
};

/// What splitting costs, in K steps of one tile. Clocks are set by hand to an H200: bench/results/h200/tails.md.
struct TailSplit {
  /// Of a tile: its owner adds the others' accumulators one after another.
  static constexpr int64_t maxParts = 4;
  /// So that tail * (steps + piece) stays below 2^31 on up to 2047 multiprocessors.
  static constexpr int64_t mostSteps = 1 << 20;
  /// Tiles whose K steps take fewer clocks, those of less than 128x128 by 64, belong to small problems, which would
  /// wait longer for the schedule than they gain.
  static constexpr int64_t leastStepClocks = 512;
  /// How many times its cost a split must gain if there is no full wave before it.
  static constexpr int64_t onlyWave = 3;

  int64_t sum;   ///< to write a tile's partial accumulator to memory, or to add one
  int64_t piece; ///< what a helper loses with each piece: its accumulator, and MMAs that do not overlap with loads
  int64_t fixed; ///< to deal out the steps, and to wait

  TailSplit(int64_t sum, int64_t piece, int64_t fixed) : sum(sum), piece(piece), fixed(fixed) {}

  /// `elements` of a tile, in fp32, `stepBytes` along K of one step.
  TailSplit(int64_t elements, int64_t stepBytes) {
    constexpr int64_t sumBytesPerClock = 30, pieceClocks = 1500, fixedClocks = 9000;
    int64_t sumClocks = elements * int64_t(sizeof(float)) / sumBytesPerClock, step = stepClocks(elements, stepBytes);
    auto inSteps = [&](int64_t clocks) { return (clocks + step - 1) / step; };
    sum = inSteps(sumClocks);
    piece = inSteps(sumClocks + pieceClocks);
    fixed = inSteps(fixedClocks);
  }

  /// Clocks that a step takes at least, at 2048 products of 16-bit numbers a clock, 4096 of 8 bits.
  static int64_t stepClocks(int64_t elements, int64_t stepBytes) {
    return std::max<int64_t>(elements * stepBytes / 4096, 1);
  }

  /// Tiles with as few steps are never split.
  int64_t leastSteps() const { return sum + fixed; }

  /// Steps from which on `parts` gain at least as much as one part fewer.
  int64_t stepsFor(int64_t parts) const { return parts * (parts - 1) * sum; }

  /// How `tail` tiles of `steps` K steps are split over `ctas` multiprocessors, after `waves` full waves; nothing
  /// if that does not pay. 0 < tail < ctas.
  std::optional<TailShare> share(int64_t waves, int64_t tail, int64_t steps, int64_t ctas) const {
    int64_t parts = 1;
    while (parts < maxParts && steps >= stepsFor(parts + 1))
      ++parts;
    parts = std::min(parts, ctas / tail);
    // Equal parts for all helpers keep those of neighbouring tiles at the same place along K, so that they share what
    // L2 reads. Else a helper has pieces of several tiles.
    int64_t own = parts > 1 ? steps - (parts - 1) * (steps / parts) : (tail * (steps + piece) + ctas - 1) / ctas;
    int64_t lost = std::max<int64_t>(parts - 1, 1) * sum + fixed;
    bool pays = own + lost * (waves > 0 ? 1 : onlyWave) < steps;
    return steps < mostSteps && pays ? std::optional(TailShare{own, lost}) : std::nullopt;
  }
};

} // namespace tile::target
