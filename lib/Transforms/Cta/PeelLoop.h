// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first iteration of a loop apart from the others, which then know more.
//
//   for i = 0 to n (x):                     if 0 < n:
//     y = where(i > 0 | mask, x, -inf)  ==>   x1 = where(mask, x0, -inf)
//     yield y                                 for i = 1 to n (x1):  yield x
//                                           else: x0
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Whether masks of tensors follow from comparisons that are decided in all iterations but the first.
bool gainsByPeeling(mlir::scf::ForOp loop);

/// In a branch that a loop without iterations does not take.
void peelFirst(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop);

/// Replaces comparisons of the induction variable that the lower bound decides.
void foldComparisons(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop);

} // namespace tile
