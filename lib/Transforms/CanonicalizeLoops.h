// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonicalization of IR with counting loops.
//
// Upstream's pattern for loops that run once or never computes the distance of the bounds as a signed integer, so that
// it takes a loop over more than half of its type's integers for an empty one. The pattern here counts iterations by
// Analysis/LoopRange.h.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <memory>

namespace tile {

/// The patterns of scf.for, and those that `set` has.
mlir::FrozenRewritePatternSet freezeWithLoops(mlir::RewritePatternSet set);

/// Creates MLIR's canonicalizer, under its name, without patterns that change what a kernel computes.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace tile
