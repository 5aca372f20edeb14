// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites a loop so that early operations run one iteration ahead of late ones.
//
//   for j, (o):                                s = wgmma q, k[0]; await s; e = exp(s)
//     s = wgmma q, k[j]; await s               for j = 1 …, (e, o, slot = none):
//     e = exp(s)                                 await o; release v[slot] if there is one
//     o = wgmma half(e), v[j], o         ==>     p = half(e)
//     await o; release v[j]                      s = wgmma q, k[j];  o = wgmma p, v[j - 1], o
//                                                await s;  e = exp(s);  slot = that of v[j - 1]
//                                              await o …; o = wgmma half(e), v[last], o; await o …
//
// If only the waits are in another iteration, no prologue or epilogue is peeled:
//
//   for k, (c = 0):                            if there is any k:
//     c = wgmma a[k], b[k], c                    for k, (c = undefined, slot = none):
//     await c; release slot k          ==>         c = wgmma a[k], b[k], c if there is a previous slot
//                                                  await the previous wgmma; release its slot if there is one
//                                                await c; release the last slot
//
// Only the release is predicated; a zero-trip loop is guarded. Late operations of an iteration run one round after its
// early operations. So the loop carries the values that early operations pass to late ones. It also carries each wgmma
// in flight, together with its token. The inputs of left operands pass through the await, because LLVM would otherwise
// compute the operands before it. A slot of a ring is awaited before its first reader is issued, and released after its
// last reader has been awaited.
#pragma once

#include "Analysis/Loops/LoopGraph.h"
#include "Analysis/Loops/MmaSchedule.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Predicates a release instead of branching: before a branch, wgmmas in flight would have to be awaited, and LLVM
/// would move preceding computations after it.
void avoidBranch(cta::RingReleaseOp release);

/// Returns the register budget of a thread that runs the operation.
int64_t countThreadRegisters(mlir::Operation *op);

/// Returns true if threads have enough registers, rings have enough slots, and no writes to buffers conflict. A
/// schedule without early operations also requires that a wgmma reads a slot, because the carried slot index indicates
/// whether there has been a previous iteration.
bool mayRunAhead(const LoopGraph &graph, const MmaSchedule &schedule);

/// Rewrites the loop of `graph` according to `schedule`.
void runAhead(mlir::IRRewriter &rewriter, const LoopGraph &graph, const MmaSchedule &schedule);

} // namespace tile
