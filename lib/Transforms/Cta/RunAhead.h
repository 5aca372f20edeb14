// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites a loop so that early operations run an iteration ahead of late ones.
//
//   for j, (o):                                s = wgmma q, k[0]; await s; e = exp(s)
//     s = wgmma q, k[j]; await s               for j = 1 …, (e, o, slot = none):
//     e = exp(s)                                 await o; release v[slot] if there is one
//     o = wgmma half(e), v[j], o         ==>     p = half(e)
//     await o; release v[j]                      s = wgmma q, k[j];  o = wgmma p, v[j - 1], o
//                                                await s;  e = exp(s);  slot = that of v[j - 1]
//                                              await o …; o = wgmma half(e), v[last], o; await o …
//
// Where only what is awaited is of another iteration than the rest, none stands apart:
//
//   for k, (c = 0):                            if there is any k:
//     c = wgmma a[k], b[k], c                    for k, (c = undefined, slot = none):
//     await c; release slot k          ==>         c = wgmma a[k], b[k], c if there is a previous slot
//                                                  await the product before; release its slot if there is one
//                                                await c; release the last slot
//
// Nothing is predicated but the release: a loop without iterations is told apart before. What early operations hand to
// late ones of their iteration, which run in the next round, the loop carries, and so it does a product in flight, with
// its token. What left operands are made of passes through what awaits it, since LLVM would make them before. A ring's
// slot is awaited where its first reader is issued, and released where the last one has been awaited.
#pragma once

#include "Analysis/LoopGraph.h"
#include "Analysis/ProductSchedule.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// With a condition a release is not a branch, for which products in flight would have to be awaited, and after which
/// LLVM would move what is computed before.
void avoidBranch(cta::RingReleaseOp release);

/// Registers of a thread that runs the operation.
int64_t countThreadRegisters(mlir::Operation *op);

/// Whether threads have the registers, rings the slots, and buffers no writer in between; a schedule without early
/// operations needs a slot that tells whether there has been an iteration.
bool mayRunAhead(const LoopGraph &graph, const ProductSchedule &schedule);

/// Replaces the loop of `graph` as `schedule` says.
void runAhead(mlir::IRRewriter &rewriter, const LoopGraph &graph, const ProductSchedule &schedule);

} // namespace tile
