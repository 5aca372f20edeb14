// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cloning loops and branches with a subset of their operations and carried values.
#pragma once

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

class ControlCloner {
public:
  /// The clones carry only values whose representative (the first value, see CarriedValue) is in `carried`. `cloneOps`
  /// clones the operations of a block to the insertion point.
  ControlCloner(mlir::RewriterBase &rewriter, mlir::IRMapping &mapping, const llvm::DenseSet<mlir::Value> &carried,
                llvm::function_ref<void(mlir::Block &)> cloneOps)
      : rewriter(rewriter), mapping(mapping), carried(carried), cloneOps(cloneOps) {}

  /// Clones a scf.for, scf.if, scf.while or tile.programs to the insertion point, and maps its results.
  void clone(mlir::Operation *op);

private:
  llvm::SmallVector<unsigned> findKept(mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> lookUp(mlir::ValueRange values, llvm::ArrayRef<unsigned> kept);
  void map(mlir::ValueRange from, llvm::ArrayRef<unsigned> kept, mlir::ValueRange to);

  mlir::RewriterBase &rewriter;
  mlir::IRMapping &mapping;
  const llvm::DenseSet<mlir::Value> &carried;
  llvm::function_ref<void(mlir::Block &)> cloneOps;
};

} // namespace tile
