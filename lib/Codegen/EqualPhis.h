// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges equal loop-carried values.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tile::codegen {

/// Merges phis of a block that have the same initial value and the same update, such as the element counts of a Welford
/// reduction, each of which is a divisor:
///
///   n0 = phi [0], [m0]; n1 = phi [0], [m1]; m0 = n0 + 1; m1 = n1 + 1   ==>   n0 = phi [0], [m0]; m0 = n0 + 1
///
/// LLVM does that for induction variables only. NewGVN would merge them, too, but some normalization kernels then take
/// 1.1 to 1.24 times as long (bench/results/h200/public-kernels.md).
struct MergeEqualPhis : llvm::PassInfoMixin<MergeEqualPhis> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tile::codegen
