// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Energy of a launch: the average power while a graph of launches is replayed back to back for about a second,
// multiplied by the duration of one launch.
//
// The GPU's energy counter advances in steps of 20 to 100 ms, so power is computed between the first and the last step.
// Reading the counter takes milliseconds, so enough replays are queued that the GPU does not become idle in the
// meantime.
#pragma once

#include "Lab/Bench/Rounds.h"
#include "Lab/Bench/Telemetry.h"

namespace tile::runner {

/// Returns millijoules per launch, or nullopt if the GPU has no energy counter or the counter did not advance.
Result<std::optional<double>> measureEnergy(const Stopwatch &watch, const Telemetry &telemetry,
                                            const Contestant &contestant, double seconds = 1);

} // namespace tile::runner
