// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Results/CompareResults.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tile::runner {

namespace {

// Multiple of the spread of the rounds. In a thousand runs, the median of eleven rounds stayed within this multiple.
constexpr double deviations = 3;

/// Returns the key that all measurements of a case have in common.
std::string keyOf(const Measurement &measured) {
  return fmt::format("{}|{}|{}|{}|{}", measured.line(), measured.label, measured.argumentText, measured.isGraph,
                     measured.l2);
}

std::string nameOf(const Measurement &measured) {
  std::string name = measured.line() + " " + measured.caseText();
  return measured.isGraph ? name + " graph" : name;
}

const MeasuredBaseline *firstMeasured(const Measurement &measured) {
  for (const MeasuredBaseline &other : measured.baselines)
    if (!other.isRecorded)
      return &other;
  return nullptr;
}

/// Returns true if both measurements have the same baseline. "cuBLAS 13.1.0" and "cuBLAS 13.0.2" are different, because
/// times of different versions are not comparable.
bool haveSameBaseline(const Measurement &before, const Measurement &after) {
  const MeasuredBaseline *first = firstMeasured(before), *second = firstMeasured(after);
  return first && second && first->name == second->name;
}

ResultChange compare(const Measurement &before, const Measurement &after, double threshold, bool usesTime) {
  ResultChange change;
  change.name = nameOf(after);
  change.isRatio = !usesTime && haveSameBaseline(before, after);
  double squares = 0;
  for (const Measurement *measured : {&before, &after}) {
    squares += std::pow(relativeNoise(measured->rounds), 2);
    if (change.isRatio)
      squares += std::pow(relativeNoise(firstMeasured(*measured)->rounds), 2);
  }
  change.noise = std::max(threshold, deviations * std::sqrt(squares));
  if (change.isRatio) {
    change.before = firstMeasured(before)->ratio;
    change.after = firstMeasured(after)->ratio;
    change.change = change.after / change.before - 1;
  } else {
    change.before = before.microseconds;
    change.after = after.microseconds;
    change.change = change.before / change.after - 1;
  }
  return change;
}

} // namespace

double relativeNoise(std::vector<double> rounds) {
  if (rounds.size() < 4)
    return 0;
  std::sort(rounds.begin(), rounds.end());
  const size_t quarter = rounds.size() / 4;
  const double middle = rounds[rounds.size() / 2];
  return middle > 0 ? (rounds[rounds.size() - 1 - quarter] - rounds[quarter]) / 2 / middle : 0;
}

ResultComparison compareResults(const std::vector<Measurement> &before, const std::vector<Measurement> &after,
                                double threshold, bool usesTime) {
  ResultComparison comparison;
  const auto find = [](const std::vector<Measurement> &all, const std::string &key) {
    // If a case was measured several times, use the last measurement, since files are appended to.
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [&](const Measurement &one) { return keyOf(one) == key; });
    return found == all.rend() ? nullptr : &*found;
  };
  for (const Measurement &measured : after) {
    if (find(after, keyOf(measured)) != &measured)
      continue;
    const Measurement *partner = find(before, keyOf(measured));
    if (!partner) {
      comparison.onlyAfter.push_back(nameOf(measured));
      continue;
    }
    const bool isOfOther = cardOf(partner->device) != cardOf(measured.device);
    if (isOfOther) {
      comparison.cardBefore = cardOf(partner->device);
      comparison.cardAfter = cardOf(measured.device);
    }
    if (isOfOther && !usesTime && !haveSameBaseline(*partner, measured))
      comparison.notCompared.push_back(nameOf(measured));
    else
      comparison.changes.push_back(compare(*partner, measured, threshold, usesTime));
  }
  for (const Measurement &measured : before)
    if (!find(after, keyOf(measured)) && find(before, keyOf(measured)) == &measured)
      comparison.onlyBefore.push_back(nameOf(measured));
  return comparison;
}

} // namespace tile::runner
