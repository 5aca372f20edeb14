// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order an iteration issues a product, loads for the next iteration, and awaits the product.
//
//   x = load; p = wgmma; z = p + f(x)   ==>   p = wgmma; y = f(x); x' = load of the next iteration; z = p + y
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

struct IssueOrder {
  llvm::DenseSet<mlir::Operation *> issue; ///< The product and what comes before it, but for what waits for loads.
  /// What is computed of loaded numbers, and of what else is there by then: before the next ones take their registers.
  llvm::DenseSet<mlir::Operation *> use;
};

/// Empty if there is no product, or if it or its operands wait for loaded numbers.
IssueOrder planIssue(mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Operation *> &loads);

} // namespace tile
