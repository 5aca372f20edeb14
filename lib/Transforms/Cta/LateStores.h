// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Issues loads outside of pipelined loops, whose values are stored to shared memory, back to back.
//
//   x = load; store x; fence; y = load; store y; fence ==>   x = load; y = load; store x; store y; fence
//
// A store waits for its load, and a fence waits for stores, so later loads would begin only when the earlier ones have
// arrived. Values that wait for their stores take registers: at most half of a thread's, and fewer if a loop carries
// accumulators.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Moves stores of values loaded in the same block, and fences, after the following loads, if nothing reads shared
/// memory in between.
void storeLate(KernelOp kernel);

} // namespace tile
