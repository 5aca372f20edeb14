// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Consumer warp groups multiply in turns.
//
// Between the products of a loop there is what threads compute: attention's exponentials. Warp groups that run the same
// code wait for the tensor cores at the same time, and leave them idle at the same time. In turns, one computes while
// the products of the other run (FlashAttention-3, section 3.1, "ping-pong scheduling"):
//
//   for:                                    turn_open
//     s = wgmma q, k                        for:
//     o = wgmma p, v, o              ==>      turn_begin
//     wait s {1}                              s = wgmma q, k;  o = wgmma p, v, o
//     p = exp(s) …                            turn_end
//                                             wait s {1};  p = exp(s) …
//
// A turn ends when its last product is issued: warp groups' products are executed in order of issue. Between a turn and
// the next lies the end of the iteration: elsewhere ptxas would move what is computed after the wait for the turn, and
// attention takes 1.27 times as long. Results do not depend on turns, and all warp groups take equally many: they run
// the same loops. A warp group that has the turn waits for nothing but copies of the producer, which follow releases of
// slots in earlier turns.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// In loops and programs of the consumers' role that multiply several times, and compute enough between that; in no
/// others. The order of products must be final.
void takeTurns(mlir::RewriterBase &rewriter, KernelOp kernel);

} // namespace tile
