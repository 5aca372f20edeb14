// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets consumer warp groups issue MMAs in turn.
//
// Between the MMAs of a loop, threads compute, for example attention's exponentials. Warp groups that run the same code
// wait for the tensor cores at the same time, and leave them idle at the same time. With turns, one group computes
// while the MMAs of the other execute (FlashAttention-3, section 3.1, "ping-pong scheduling"):
//
//   for:                                    turn_open
//     s = wgmma q, k                        for:
//     o = wgmma p, v, o              ==>      turn_begin
//     wait s {1}                              s = wgmma q, k;  o = wgmma p, v, o
//     p = exp(s) …                            turn_end
//                                             wait s {1};  p = exp(s) …
//
// A turn ends when its last MMA is issued, because MMAs execute in issue order, across warp groups. Turns do not span
// the end of an iteration: otherwise ptxas would move computations after the wait for the turn, and attention would
// take 1.27 times as long. Results do not depend on turns. All warp groups take the same number of turns, because they
// run the same loops. Turns cannot deadlock: a warp group that has the turn waits only for copies of the producer,
// which in turn waits only for slots that were released in earlier turns.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds turns to loops and programs of the consumer role that have several MMAs and enough computation between them.
/// The order of MMAs must be final.
void takeTurns(mlir::RewriterBase &rewriter, KernelOp kernel);

} // namespace tile
