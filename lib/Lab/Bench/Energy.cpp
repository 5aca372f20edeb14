// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/Energy.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tile::runner {

namespace {

using Clock = std::chrono::steady_clock;

/// Returns the power in watts, computed from the steps of the energy counter within the given number of seconds.
std::optional<double> measurePower(const Telemetry &telemetry, double seconds) {
  struct Step {
    Clock::time_point time;
    uint64_t millijoules;
  };
  std::optional<Step> first, last;
  std::optional<uint64_t> counter = telemetry.energyMillijoules();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (counter && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const std::optional<uint64_t> now = telemetry.energyMillijoules();
    if (!now || *now == *counter)
      continue;
    counter = now;
    last = Step{Clock::now(), *now};
    if (!first)
      first = last;
  }
  if (!first || last->time == first->time)
    return std::nullopt;
  return static_cast<double>(last->millijoules - first->millijoules) * 1e-3 /
         std::chrono::duration<double>(last->time - first->time).count();
}

} // namespace

Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds) {
  constexpr double replayMilliseconds = 10;
  constexpr int maxLaunches = 4000;
  if (!telemetry.energyMillijoules())
    return std::optional<double>();
  const double expected = std::max(contestant.microseconds(), 1.0) / 1000;
  const int launches = static_cast<int>(std::clamp(replayMilliseconds / expected, 1.0, double(maxLaunches)));
  Result<Sample> graph = watch.capture(contestant.copies, launches);
  if (!graph)
    return graph.error();
  Result<double> replay = watch.measure(*graph, 2); // duration per launch in replays without gaps
  if (!replay)
    return replay.error();
  const double replaySeconds = *replay * launches * 1e-3;
  const int count = static_cast<int>(std::clamp(seconds / replaySeconds, 2.0, double(Stopwatch::maxSamples)));
  std::optional<double> watts;
  Result<double> time =
      watch.measure(*graph, count, [&] { watts = measurePower(telemetry, 0.85 * count * replaySeconds); });
  if (!time)
    return time.error();
  return watts ? std::optional(*watts * *time) : std::nullopt; // W ms = mJ
}

} // namespace tile::runner
