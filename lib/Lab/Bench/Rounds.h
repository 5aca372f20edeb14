// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures several launches against each other, in interleaved rounds of one process.
//
// A round has n samples of each contestant: launches with a cold L2 cache, or replays of a CUDA graph of many launches
// (Stopwatch.h). The time of a round is the median of its samples; the time of a contestant is the median over rounds.
#pragma once

#include "Lab/Bench/Stopwatch.h"

#include <span>

namespace tile::runner {

/// One of several launches that are measured against each other.
struct Contestant {
  explicit Contestant(Launch launch) : Contestant(std::vector<Launch>{std::move(launch)}) {}
  /// Creates a contestant with several copies of the buffers for the same launch.
  explicit Contestant(std::vector<Launch> launches) : copies(std::move(launches)) { sample.run = copies.front(); }
  std::vector<Launch> copies;
  Sample sample;
  std::vector<double> rounds; ///< microseconds
  double microseconds() const { return median(rounds); }
};

/// The amount of work measured per round, which is equal for all contestants.
struct RoundSize {
  int samples = 0;
  /// Number of launches in the graph that a sample replays; 0: a sample is one launch with a cold L2 cache.
  int launchesPerGraph = 0;
};

/// Runs all contestants a few times, which loads code and raises the clocks. Returns the milliseconds of the slowest
/// launch.
Result<double> warmUp(const Stopwatch &watch, std::span<const Contestant> contestants);

/// Warms up, captures graphs if requested, and chooses the amount of work per round such that a round takes the given
/// time.
Result<RoundSize> prepareRounds(const Stopwatch &watch, std::span<Contestant> contestants, bool useGraphs,
                                double roundMilliseconds = 60); // averages over clock changes

/// Measures one round and appends the time to the `rounds` of each contestant. The number `round` determines the order.
/// `whileFirst` is called while the samples of contestants[0] are queued but not finished.
Status measureRound(const Stopwatch &watch, std::span<Contestant *const> contestants, unsigned round,
                    const RoundSize &size, const std::function<void()> &whileFirst = {});

} // namespace tile::runner
