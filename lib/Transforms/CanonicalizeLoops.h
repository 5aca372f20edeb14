// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonicalization of IR with scf.for loops.
//
// Upstream's pattern for loops with at most one iteration computes the distance between the bounds as a signed integer,
// so it treats a loop over more than half of its type's range as empty. The pattern here counts iterations with
// Analysis/Loops/LoopRange.h.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <memory>

namespace tile {

/// Freezes `set` together with the canonicalization patterns of scf.for.
mlir::FrozenRewritePatternSet freezeWithLoops(mlir::RewritePatternSet set);

/// Creates MLIR's canonicalizer, under its usual name, without patterns that change what a kernel computes.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace tile
