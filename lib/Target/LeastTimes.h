// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What many kernels take at least, found at once: a launcher that looks for the fastest of two dozen asks the formula
// only for those whose bound is below the time of the best one that it knows.
//
//   ScheduleFormula::microseconds   limits that overlap by their 8-norm, the tail as it is split    60 ns a kernel
//   LeastTimes::compute             the largest limit, the tail as if splitting it were perfect     8 ns a kernel
#pragma once

#include "Target/ScheduleTime.h"

#include <span>
#include <vector>

namespace tile::target {

class LeastTimes {
public:
  void add(const ScheduleFormula &formula);

  size_t size() const { return count; }
  /// Of each kernel, in the order of adding, at most what its formula says. Writes size() elements. Touches no heap.
  void compute(GemmSize size, std::span<float> microseconds) const;

private:
  /// The numbers of four kernels side by side, which every x86-64 and Arm processor computes with at once.
  static constexpr size_t lanes = 4;
  using Numbers = float __attribute__((vector_size(lanes * sizeof(float))));
  /// What GemmFormula and ScheduleFormula know of each kernel, in us instead of ns and clocks.
  struct Kernels {
    Numbers blockM, blockN;
    Numbers inverseM, inverseN, inverseK, inverseSms, inverseParts; ///< of blocks, multiprocessors, parts of a tile
    Numbers parts, numSms;
    Numbers lostSteps;                              ///< at least, by splitting the tail; infinite: it is not split
    Numbers lineM, lineN, lineKOfA, lineKOfB;       ///< elements of a line of L2 along what is contiguous, else 0
    Numbers evenA, straddlingA, evenB, straddlingB; ///< lines for each that is used, times l2
    Numbers missing;                                ///< the same for a row that is not there
    Numbers leastAtom, energy, ingest;              ///< of a step's atoms
    Numbers gap, leastStep, epilogue, stages, late, atATime, crowded, spills;
    Numbers turnsShortK, turnsLongK;                     ///< tiles beyond which it gains to take turns; infinite: never
    Numbers turnsLate, turnsAtATime;                     ///< what is different then
    Numbers read, written, l2Elements, narrowA, narrowB; ///< of an element of a or b, and of c; which L2 holds
    Numbers fixed, start, round, unusedSplit, pause;
  };
  struct Size;
  static Numbers leastTimes(const Kernels &kernels, const Size &size);

  std::vector<Kernels> fours;
  size_t count = 0;
};

} // namespace tile::target
