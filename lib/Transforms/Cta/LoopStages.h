// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, names and masks that pipelined loops need.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

class KernelOp;

/// Operations of a loop's body in the order of the pipelined loop, each with its stage.
using LoopSchedule = std::vector<std::pair<mlir::Operation *, unsigned>>;

/// The roots among the operations of the body, and all that they depend on, through loop arguments too.
llvm::DenseSet<mlir::Operation *> collectStage(mlir::scf::ForOp loop,
                                               llvm::function_ref<bool(mlir::Operation *)> isRoot);

/// expandPipeline() takes only values that operations of the body make. What an iteration hands on as it is, from the
/// one before or from outside, passes through an operation, until eraseNames().
void nameYields(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);
void eraseNames(mlir::RewriterBase &rewriter, KernelOp kernel);

/// A mask of the elements at `pointers` that is `mask` (or null, which is all) where `condition` holds, and else none.
mlir::Value emitMaskIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::Value mask,
                       mlir::Value pointers);

} // namespace tile
