// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses through pointers a descriptor can make instead, whatever it may gain.
//
// Tensor maps go another way to memory than loads and stores of threads, and nothing orders the two. So no access is
// one of them that another one of the same program, if it touches the same memory, has to see or to follow.
#pragma once

#include "Analysis/BlockPointers.h"
#include "Analysis/DotPlan.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {

/// An analysis of a kernel in MLIR's sense: one pass asks it what could be raised, the next one raises.
class RaisableAccesses {
public:
  explicit RaisableAccesses(mlir::Operation *op);

  /// The reference is valid until the next call.
  const BlockAccessResult &get(LoadOp load);
  BlockAccessResult get(StoreOp store);

  /// After what the descriptor of the access is made of, if that is outside of the loop around the load; null: it is
  /// not.
  static mlir::Operation *findPlace(LoadOp load, const BlockAccess &access);

  /// Whether the operand is loaded through a descriptor, or could be.
  bool mayComeByTma(const SharedOperand &operand);
  /// Whether the first dimension of such an operand is contiguous in memory.
  bool isReadTransposed(const SharedOperand &operand);

private:
  bool mayRunBefore(mlir::Operation *first, mlir::Operation *second);
  bool isPrecededByWrite(LoadOp load);
  bool hasToBeOrdered(StoreOp store);

  KernelOp kernel;
  BlockPointers pointers;
  bool waitsForOthers = false; ///< Or may write anything, somewhere in the kernel: at a barrier, for one.
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  llvm::DenseMap<mlir::Operation *, BlockAccessResult> analyzed;
};

} // namespace tile
