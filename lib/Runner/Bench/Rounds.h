// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures several launches beside each other, in interleaved rounds of one process.
//
// A round is n samples of each: launches with a cold L2 cache, or replays of a CUDA graph of many launches
// (Stopwatch.h). A round's figure is the median of its samples; the figure of a contestant is the median over rounds.
#pragma once

#include "Runner/Bench/Stopwatch.h"

#include <span>

namespace tile::runner {

/// One of those that are measured beside each other.
struct Contestant {
  explicit Contestant(Launch launch) : Contestant(std::vector<Launch>{std::move(launch)}) {}
  /// The same launch with copies of its buffers.
  explicit Contestant(std::vector<Launch> launches) : copies(std::move(launches)) { sample.run = copies.front(); }
  std::vector<Launch> copies;
  Sample sample;
  std::vector<double> rounds; ///< microseconds
  double microseconds() const { return median(rounds); }
};

/// How much a round measures: the same of all contestants.
struct RoundSize {
  int samples = 0;
  int launchesPerGraph = 0; ///< of one sample that replays a graph; 0: each sample is one launch with a cold L2 cache
};

/// Runs all a few times, which loads code and raises the clocks; the slowest launch in milliseconds.
Result<double> warmUp(const Stopwatch &watch, std::span<const Contestant> contestants);

/// Warms up, captures graphs if they are wanted, and chooses how much a round of so many milliseconds measures.
Result<RoundSize> prepareRounds(const Stopwatch &watch, std::span<Contestant> contestants, bool useGraphs,
                                double roundMilliseconds = 60); // averages over the clock's steps

/// Adds a figure to the rounds of each. `round` decides who goes first; `whileFirst` is called while the samples of
/// contestants[0] are queued but not finished.
Status measureRound(const Stopwatch &watch, std::span<Contestant *const> contestants, unsigned round,
                    const RoundSize &size, const std::function<void()> &whileFirst = {});

} // namespace tile::runner
