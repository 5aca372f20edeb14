#include "Runner/Energy.h"

#include <algorithm>
#include <chrono>

namespace tile::runner {

Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double batchMilliseconds = 5; // between two looks at the counter
  constexpr int mostLaunches = 2000;
  std::optional<uint64_t> counter = telemetry.energyMillijoules();
  if (!counter)
    return std::optional<double>();
  const double expected = std::max(contestant.microseconds(), 1.0) / 1000;
  const int launches = static_cast<int>(std::clamp(batchMilliseconds / expected, 1.0, double(mostLaunches)));
  Result<Sample> graph = watch.capture(contestant.copies, launches);
  if (!graph)
    return graph.error();
  std::optional<uint64_t> first;
  uint64_t last = 0, done = 0, doneAtLast = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (Result<double> time = watch.measure(*graph, 1); !time)
      return time.error();
    done += static_cast<uint64_t>(launches);
    const uint64_t now = telemetry.energyMillijoules().value_or(*counter);
    if (now == *counter)
      continue;
    counter = now;
    if (!first) { // what came before began within a step
      first = now;
      done = 0;
    }
    last = now;
    doneAtLast = done;
  }
  if (!first || doneAtLast == 0)
    return std::optional<double>();
  return std::optional(static_cast<double>(last - *first) / static_cast<double>(doneAtLast));
}

} // namespace tile::runner
