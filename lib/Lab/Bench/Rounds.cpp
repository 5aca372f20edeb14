// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warms up, chooses the sizes of rounds, and determines the order of contestants.
#include "Lab/Bench/Rounds.h"

#include <algorithm>
#include <bit>

namespace tile::runner {
namespace {

constexpr int fewestSamples = 5, warmups = 3;
// Long compared with the time to start a graph, which is part of the measurement.
constexpr double graphMilliseconds = 2;
constexpr int fewestLaunchesOfGraph = 20, maxLaunchesOfGraph = 500;

/// Returns true if the last contestant goes first in this round. The order follows the Thue-Morse sequence, because GPU
/// clocks oscillate with periods of about a second. With a periodic order, the same contestant was always measured in
/// the slow half of a period (up to 20 % slower at 8192x8192x8192 on an H200, in every eighth measurement of 0.12 s).
bool isReversed(unsigned round) {
  return std::popcount(round) % 2 == 1;
}

int choose(double count, int fewest, int most) {
  return static_cast<int>(std::clamp(count, double(fewest), double(most)));
}

} // namespace

Result<double> warmUp(const Stopwatch &watch, std::span<const Contestant> contestants) {
  double slowest = 1e-3; // lower bound: the resolution of events
  for (const Contestant &contestant : contestants) {
    Result<double> time = watch.measure(contestant.sample, warmups);
    if (time)
      time = watch.measure(contestant.sample, fewestSamples);
    if (!time)
      return time;
    slowest = std::max(slowest, *time * contestant.sample.launches);
  }
  return slowest;
}

Result<RoundSize> prepareRounds(const Stopwatch &watch, std::span<Contestant> contestants, bool useGraphs,
                                double roundMilliseconds) {
  RoundSize size;
  Result<double> slowest = warmUp(watch, contestants);
  if (slowest && useGraphs) {
    size.launchesPerGraph = choose(graphMilliseconds / *slowest, fewestLaunchesOfGraph, maxLaunchesOfGraph);
    for (Contestant &contestant : contestants) {
      Result<Sample> graph = watch.capture(contestant.copies, size.launchesPerGraph);
      if (!graph)
        return graph.error();
      contestant.sample = std::move(*graph);
    }
    slowest = warmUp(watch, contestants);
  }
  if (!slowest)
    return slowest.error();
  size.samples = choose(roundMilliseconds / *slowest, fewestSamples, Stopwatch::maxSamples);
  return size;
}

Status measureRound(const Stopwatch &watch, std::span<Contestant *const> contestants, unsigned round,
                    const RoundSize &size, const std::function<void()> &whileFirst) {
  std::vector<Contestant *> order(contestants.begin(), contestants.end());
  if (isReversed(round))
    std::reverse(order.begin(), order.end());
  for (Contestant *contestant : order) {
    Result<double> time =
        watch.measure(contestant->sample, size.samples, contestant == contestants[0] ? whileFirst : nullptr);
    if (!time)
      return time.error();
    contestant->rounds.push_back(*time * 1000);
  }
  return runtime::Success{};
}

} // namespace tile::runner
