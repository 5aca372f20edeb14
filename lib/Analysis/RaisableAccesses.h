// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses through pointers that a descriptor can replace, regardless of profitability.
//
// TMA accesses memory through another proxy than loads and stores of threads, and nothing orders the two. So an access
// does not qualify if another access of the same program to the same memory must observe or follow it.
#pragma once

#include "Analysis/BlockPointers.h"
#include "Analysis/DotPlan.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {

/// An MLIR analysis of a kernel: one pass queries what could be raised, the next one raises it.
class RaisableAccesses {
public:
  explicit RaisableAccesses(mlir::Operation *op);

  /// Returns a reference that is valid until the next call.
  const BlockAccessResult &get(LoadOp load);
  BlockAccessResult get(StoreOp store);

  /// Returns the operation after which the inputs of the access's descriptor are available, if that is outside of the
  /// loop around the load; null if it is not.
  static mlir::Operation *findPlace(LoadOp load, const BlockAccess &access);

  /// Returns true if the operand is loaded through a descriptor, or could be.
  bool mayComeByTma(const SharedOperand &operand);
  /// Returns true if the first dimension of such an operand is contiguous in memory.
  bool isReadTransposed(const SharedOperand &operand);

private:
  bool mayRunBefore(mlir::Operation *first, mlir::Operation *second);
  bool isPrecededByWrite(LoadOp load);
  bool hasToBeOrdered(StoreOp store);

  KernelOp kernel;
  BlockPointers pointers;
  bool waitsForOthers = false; ///< Or may have any effect, somewhere in the kernel: at a barrier, for example.
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  llvm::DenseMap<mlir::Operation *, BlockAccessResult> analyzed;
};

} // namespace tile
