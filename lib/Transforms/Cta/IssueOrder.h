// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which an iteration issues an MMA, issues loads for the next iteration, and awaits the MMA.
//
//   x = load; p = wgmma; z = p + f(x)   ==>   p = wgmma; y = f(x); x' = load of the next iteration; z = p + y
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

struct IssueOrder {
  llvm::DenseSet<mlir::Operation *> issue; ///< The MMA and its predecessors, except users of loads.
  /// Users of loaded values and of other values that are available when the MMA has been issued. They run before the
  /// next loads reuse the registers.
  llvm::DenseSet<mlir::Operation *> use;
};

/// Plans the order. Returns an empty order if there is no MMA, or if the MMA or its operands depend on loaded values.
IssueOrder planIssue(mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Operation *> &loads);

} // namespace tile
