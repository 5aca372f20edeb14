// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop unrolling with a remainder loop.
//
//   for i = a to b step s { x }   ==>   for i = a to b - 3 * s step 4 * s { x; x; x; x }
//                                       for i = a + (n - n % 4) * s to b step s { x }    n: iterations, see LoopRange.h
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Repeats the body `factor` times, a power of two. Returns false without a change if the loop is known to have fewer
/// iterations, or if its step is known to be too large to be multiplied.
bool unrollLoop(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop, unsigned factor);

} // namespace tile
