// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Energy of a launch, from the card's own counter: its average power while launches run back to back, as replays of a
// graph, for about a second, times what one of them takes.
//
// The counter moves in steps of 20 to 100 ms; power is that between the first step and the last, while the card is
// never idle: reading the counter takes milliseconds.
#pragma once

#include "Runner/Bench/Rounds.h"
#include "Runner/Bench/Telemetry.h"

namespace tile::runner {

/// Millijoules a launch; nothing if the card has no such counter, or if it did not move.
Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds = 1);

} // namespace tile::runner
