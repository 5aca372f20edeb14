// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes lower bounds of the times of many kernels together. A launcher that looks for the fastest of two dozen
// kernels evaluates the formula only for kernels whose bound is below the best time so far.
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
  /// Writes the lower bound of each kernel in the order in which they were added, size() elements in total. Does not
  /// allocate memory.
  void compute(GemmSize size, std::span<float> microseconds) const;

private:
  /// The values of four kernels, side by side in one vector register of any x86-64 or Arm processor.
  static constexpr size_t lanes = 4;
  using Lanes = float __attribute__((vector_size(lanes * sizeof(float))));
  /// The constants of GemmFormula and ScheduleFormula of each kernel, in us instead of ns and cycles.
  struct Kernels {
    Lanes blockM, blockN;
    /// Inverses of the sizes of blocks, of the number of multiprocessors, and of the number of parts of a tile.
    Lanes inverseM, inverseN, inverseK, inverseSms, inverseParts;
    Lanes parts, numSms;
    Lanes lostSteps;                        ///< minimum cost of splitting the tail; infinite if the tail is not split
    Lanes lineM, lineN, lineKOfA, lineKOfB; ///< elements of a line of L2; 0 if the dimension is not contiguous
    Lanes evenA, straddlingA, evenB, straddlingB; ///< L2 lines read per line that is used, times l2
    Lanes missing;                                ///< the same for a row beyond the edge of the matrix
    Lanes minAtom, energy, ingest;                ///< constants of the atoms of a step
    Lanes gap, minStep, epilogue, stages, late, atATime, crowded, spills;
    Lanes pingPongShortK, pingPongLongK; ///< the number of tiles from which ping-pong gains; infinite: never
    Lanes pingPongLate, pingPongAtATime; ///< values that differ with ping-pong
    Lanes read, written, l2Elements, narrowA, narrowB; ///< per element of a or b, and of c; elements that L2 holds
    Lanes fixed, start, round, unusedSplit, pause;
  };
  struct Size;
  static Lanes leastTimes(const Kernels &kernels, const Size &size);

  std::vector<Kernels> fours;
  size_t count = 0;
};

} // namespace tile::target
