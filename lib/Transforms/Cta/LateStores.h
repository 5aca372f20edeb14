// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Issues loads whose values are stored to shared memory back to back. Applies to loads outside of pipelined loops.
//
//   x = load; store x; fence; y = load; store y; fence ==>   x = load; y = load; store x; store y; fence
//
// A store waits for its load, and a fence waits for stores, so later loads would begin only when the earlier ones have
// arrived. Loaded values that are not yet stored take registers; the limit is half of a thread's registers, and less if
// a loop carries accumulators.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Moves stores of values loaded in the same block, and fences, after the following loads, if nothing reads shared
/// memory in between.
void storeLate(KernelOp kernel);

} // namespace tile
