// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Energy of a launch: the average power while a graph of launches is replayed back to back for about a second,
// multiplied by the duration of one launch.
//
// The GPU's energy counter advances in steps of 20 to 100 ms. Power is computed between the first step and the last.
// Reading the counter takes milliseconds, so replays are queued such that the GPU is never idle meanwhile.
#pragma once

#include "Lab/Bench/Rounds.h"
#include "Lab/Bench/Telemetry.h"

namespace tile::runner {

/// Returns millijoules per launch; none if the GPU has no such counter, or it did not advance.
Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds = 1);

} // namespace tile::runner
