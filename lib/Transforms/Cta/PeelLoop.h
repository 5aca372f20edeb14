// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peels the first iteration off a loop, so that conditions that only the first iteration needs can be folded.
//
//   for i = 0 to n (x):                     if 0 < n:
//     y = where(i > 0 | mask, x, -inf)  ==>   x1 = where(mask, x0, -inf)
//     yield y                                 for i = 1 to n (x1):  yield x
//                                           else: x0
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Returns true if masks of tensors depend on comparisons that are constant in all iterations but the first.
bool gainsByPeeling(mlir::scf::ForOp loop);

/// Peels the first iteration, inside a branch that guards against a zero-trip loop.
void peelFirst(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop);

/// Folds comparisons of the induction variable that the lower bound decides.
void foldComparisons(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop);

} // namespace tile
