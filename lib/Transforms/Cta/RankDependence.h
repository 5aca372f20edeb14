// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds values that differ between the CTAs of a cluster: those computed from a CTA's rank, its index in the grid, or
// memory.
//
//   %r = cta.cluster_rank
//   %m = arith.addi %g, %r              differs
//   scf.for %k = %c0 to %n { … }        %k is the same in all CTAs, in each iteration
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace tile {

class RankDependence {
public:
  explicit RankDependence(KernelOp kernel);

  bool differs(mlir::Value value) const { return values.contains(value); }
  /// Returns true if some CTAs of the cluster may execute the operation more often than others.
  bool mayDiverge(mlir::Operation *op) const;

private:
  void add(mlir::Value value);
  void addResults(mlir::Operation *op);
  void addPlace(ProgramsOp programs);
  void propagate(mlir::OpOperand &use);

  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> divergent; ///< Control flow that depends on a value that differs.
  llvm::SmallVector<mlir::Value> worklist;
};

} // namespace tile
