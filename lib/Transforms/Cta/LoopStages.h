// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, names and masks that pipelined loops need.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

class KernelOp;

/// The operations of a loop's body in the order of the pipelined loop, each with its stage.
using LoopSchedule = std::vector<std::pair<mlir::Operation *, unsigned>>;

/// Returns the operations of the body that are roots, and all operations on which they depend, including through loop
/// arguments.
llvm::DenseSet<mlir::Operation *> collectStage(mlir::scf::ForOp loop,
                                               llvm::function_ref<bool(mlir::Operation *)> isRoot);

/// nameYields() makes operations of the body produce all yielded values, as expandPipeline() requires: it passes values
/// that are yielded unchanged, or come from outside, through an operation. eraseNames() removes these operations.
void nameYields(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);
void eraseNames(mlir::RewriterBase &rewriter, KernelOp kernel);

/// Emits a mask for the elements at `pointers`: `mask` (null means all true) if `condition` is true, otherwise all
/// false.
mlir::Value emitMaskIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::Value mask,
                       mlir::Value pointers);

} // namespace tile
