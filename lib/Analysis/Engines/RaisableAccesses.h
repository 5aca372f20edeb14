// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds accesses through pointers that can be replaced with accesses through a descriptor, whether or not that pays
// off.
//
// TMA accesses memory through a different proxy than the loads and stores of threads, and nothing orders the two
// proxies. So an access does not qualify if another access of the same program must be ordered before or after it in
// the same memory.
#pragma once

#include "Analysis/Addresses/BlockPointers.h"
#include "Analysis/Dots/DotPlan.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {

/// An MLIR analysis of a kernel. One pass queries which accesses could use descriptors, and the next pass creates the
/// descriptors.
class RaisableAccesses {
public:
  explicit RaisableAccesses(mlir::Operation *op);

  /// Returns a reference that is valid until the next call.
  const BlockAccessResult &get(LoadOp load);
  BlockAccessResult get(StoreOp store);

  /// If the inputs of the access's descriptor are available outside the loop around the load, returns the operation
  /// after which they are available; otherwise null.
  static mlir::Operation *findPlace(LoadOp load, const BlockAccess &access);

  /// Returns true if the operand is loaded through a descriptor, or could be.
  bool mayComeByTma(const SharedOperand &operand);
  /// Returns true if the first dimension of an operand is contiguous in memory. TMA must be able to load the operand.
  bool isReadTransposed(const SharedOperand &operand);

private:
  bool mayRunBefore(mlir::Operation *first, mlir::Operation *second);
  bool isPrecededByWrite(LoadOp load);
  bool hasToBeOrdered(StoreOp store);

  KernelOp kernel;
  BlockPointers pointers;
  /// Whether some operation waits for other programs, for example at a barrier, or has unknown effects.
  bool waitsForOthers = false;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  llvm::DenseMap<mlir::Operation *, BlockAccessResult> analyzed;
};

} // namespace tile
