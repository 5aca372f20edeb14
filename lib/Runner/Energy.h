// Energy of a launch, from the card's own counter: launches back to back, as replays of a graph, for about a second.
//
// The counter is read between replays. It moves in steps of 20 to 100 ms, so the measurement begins and ends where it
// does: energy and launches between the first step and the last.
#pragma once

#include "Runner/Rounds.h"
#include "Runner/Telemetry.h"

namespace tile::runner {

/// Millijoules a launch; nothing if the card has no such counter, or if it did not move.
Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds = 1);

} // namespace tile::runner
