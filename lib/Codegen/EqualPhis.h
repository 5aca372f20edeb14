// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loops carry alike is carried once.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tile::codegen {

/// Merges phis of a block that begin with the same and are changed in the same way, such as the counts of all elements
/// of a Welford reduction, by each of which an element is divided:
///
///   n0 = phi [0], [m0]; n1 = phi [0], [m1]; m0 = n0 + 1; m1 = n1 + 1   ==>   n0 = phi [0], [m0]; m0 = n0 + 1
///
/// LLVM does that to induction variables alone. NewGVN would, too, but with it some kernels of norms take 1.1 to 1.24
/// of their time (bench/results/h200/public-kernels.md).
struct MergeEqualPhis : llvm::PassInfoMixin<MergeEqualPhis> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tile::codegen
