// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is loaded where no loop runs ahead, and stored in shared memory, is on its way at the same time.
//
//   x = load; store x; fence; y = load; store y; fence ==>   x = load; y = load; store x; store y; fence
//
// A store waits for its load, and a fence for stores, so what is loaded after them begins only when that has arrived.
// What waits for its store takes registers: no more than half of a thread's, and less beside accumulators that a loop
// carries.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Moves stores of what is loaded in the same block, and fences, after the loads that follow, if nothing reads shared
/// memory in between.
void storeLate(KernelOp kernel);

} // namespace tile
