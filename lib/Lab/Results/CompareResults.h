// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares two files of measurements and reports changes that exceed the noise.
//
// If a case has the same first baseline in both files, compares the ratios to this baseline, because the times
// themselves depend on the temperature of the GPU. Otherwise compares the times, provided that the GPU is the same. The
// noise of a value is three times the spread of its rounds (half of their interquartile range, combined for both runs),
// but at least --threshold.
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
  /// If a case was measured on different GPUs, the names of both; otherwise empty.
  std::string cardBefore, cardAfter;
  std::vector<std::string> notCompared; ///< cases that were measured on different GPUs and have no common baseline
};

/// Compares two lists of measurements. `threshold`: 0.02 means 2 %. `usesTime`: compare times even if there are ratios.
ResultComparison compareResults(const std::vector<Measurement> &before, const std::vector<Measurement> &after,
                                double threshold, bool usesTime);

/// Returns half of the interquartile range relative to the median; 0 for fewer than four values.
double relativeNoise(std::vector<double> rounds);

} // namespace tile::runner
