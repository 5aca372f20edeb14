// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers programs with a shared last wave to a loop over whole programs and parts of programs.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Values that are the same in all roles of all CTAs.
struct TailPlan {
  mlir::Value ctas;
  mlir::Value steps;        ///< The steps of a program, at least 1.
  mlir::Value waves;        ///< The number of full waves.
  mlir::Value tail;         ///< The number of programs in the last wave.
  mlir::Value isSplit;      ///< True if CTAs split these programs.
  mlir::Value participants; ///< The number of owners and helpers.
  mlir::Value ownSteps;     ///< The steps of each split program's owner, at least 1.
  mlir::Value whole;        ///< The number of programs before the last wave.
};

/// Emits the plan for `count` programs, whose work has a `tail`, on `ctas` CTAs, at the insertion point.
TailPlan emitTailPlan(ProgramsOp programs, mlir::Value count, mlir::Value ctas, mlir::RewriterBase &rewriter);

/// Replaces the `programs` of the CTA with index `cta`; `emitCoordinates` replaces the block arguments of a program
/// with the given index.
void lowerToSegments(ProgramsOp programs, const TailPlan &plan, mlir::Value cta, mlir::RewriterBase &rewriter,
                     llvm::function_ref<void(mlir::Value number)> emitCoordinates);

} // namespace tile
