// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is copied or loaded where no loop runs ahead is on its way at the same time.
//
//   copy a; commit; wait 0; copy b; commit; wait 0     ==>   copy a; commit; copy b; commit; wait 0
//
//   x = load; store x; fence; y = load; store y; fence ==>   x = load; y = load; store x; store y; fence
//
// A store waits for its load, and a fence for stores, so what is loaded behind them begins only when that has arrived.
// What waits for its store takes registers: no more than half of a thread's, and less beside sums that a loop carries.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Moves waits, stores of what is loaded in the same block, and fences behind the copies and loads that follow, if
/// nothing reads shared memory in between.
void arriveTogether(KernelOp kernel);

} // namespace tile
