// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges equal loop-carried values.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tile::codegen {

/// Merges phis of a block that have the same initial value and the same update. For example, the element counts in a
/// Welford reduction, which are used as divisors, are equal:
///
///   n0 = phi [0], [m0]; n1 = phi [0], [m1]; m0 = n0 + 1; m1 = n1 + 1   ==>   n0 = phi [0], [m0]; m0 = n0 + 1
///
/// LLVM does this only for induction variables. NewGVN would also merge these phis, but then some normalization kernels
/// take 1.1 to 1.24 times as long (bench/results/h200/public-kernels.md).
struct MergeEqualPhis : llvm::PassInfoMixin<MergeEqualPhis> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tile::codegen
