// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares two files of measurements: reports changes beyond the noise.
//
// Compares the ratios to the first baseline if both files have it, because times of two runs differ with the
// temperature of the GPU; otherwise the times, provided that the GPU is the same. The noise of a value is three times
// the spread of its rounds (half of their interquartile range, for both runs together), and at least --threshold.
#pragma once

#include "Lab/Results/Results.h"

namespace tile::runner {

struct ResultChange {
  std::string name; ///< name of the case
  bool isRatio = false;
  double before = 0, after = 0; ///< the compared values: larger ratios and smaller times are better
  double change = 0;            ///< change of speed: 0.05 is 5 % faster
  double noise = 0;
  bool isFaster() const { return change > noise; }
  bool isSlower() const { return change < -noise; }
};

struct ResultComparison {
  std::vector<ResultChange> changes;              ///< in the order of the second file
  std::vector<std::string> onlyBefore, onlyAfter; ///< cases in only one file
  std::string cardBefore, cardAfter;              ///< GPUs of a case that was measured on two; empty: there is none
  std::vector<std::string> notCompared;           ///< cases on two GPUs without a common baseline
};

/// Compares. `threshold`: 0.02 is 2 %. `usesTime`: compares times even if there are ratios.
ResultComparison compareResults(const std::vector<Measurement> &before, const std::vector<Measurement> &after,
                                double threshold, bool usesTime);

/// Returns half of the interquartile range relative to the median; 0 for fewer than four values.
double relativeNoise(std::vector<double> rounds);

} // namespace tile::runner
