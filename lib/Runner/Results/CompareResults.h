// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two files of measurements: what changed between them beyond the noise.
//
// What is compared is the ratio to the first baseline where both have it, because the times of two runs differ with the
// card's temperature; else the time, unless another card took it. The noise of a figure is that of its rounds: half of
// the range that the middle half of them covers, of both runs together, three times; and at least --threshold.
#pragma once

#include "Runner/Results/Results.h"

namespace tile::runner {

struct ResultChange {
  std::string name; ///< of the case
  bool isRatio = false;
  double before = 0, after = 0; ///< of the figure: larger ratios and smaller times are better
  double change = 0;            ///< of the speed: 0.05 is 5 % faster
  double noise = 0;
  bool isFaster() const { return change > noise; }
  bool isSlower() const { return change < -noise; }
};

struct ResultComparison {
  std::vector<ResultChange> changes;              ///< as in the second file
  std::vector<std::string> onlyBefore, onlyAfter; ///< cases without a partner
  std::string cardBefore, cardAfter;              ///< of a case that was measured on two; empty: there is none
  std::vector<std::string> notCompared;           ///< cases of two cards that have no baseline in common
};

/// `threshold`: 0.02 is 2 %. `usesTime`: also where there are ratios.
ResultComparison compareResults(const std::vector<Measurement> &before, const std::vector<Measurement> &after,
                                double threshold, bool usesTime);

/// Half of the interquartile range, relative to the median; 0 for fewer than four.
double relativeNoise(std::vector<double> rounds);

} // namespace tile::runner
