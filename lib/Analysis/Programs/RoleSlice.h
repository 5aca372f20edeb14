// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backward slice of operations that a role of one thread executes. It contains the scalars that this role computes
// by itself.
//
//   RoleSlice slice(&kernel);
//   slice.add(copy);                    // and the loops and branches around it
//   if (slice.close())                  // what their operands are computed from
//     clone slice.ops
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace tile {

class RoleSlice {
public:
  /// Operations outside `root`, a kernel or its warp roles, are available to all roles.
  explicit RoleSlice(mlir::Operation *root) : root(root) {}

  /// Adds an operation, with the control flow around it, but not its operands. Returns false if this control flow
  /// contains anything but loops and branches.
  bool add(mlir::Operation *op);
  void need(mlir::Value value);
  /// Adds the operations that compute the required values. Returns false if one thread cannot compute the values,
  /// because they are tensors or their computation has effects.
  bool close();

  llvm::DenseSet<mlir::Operation *> ops;
  /// The loop-carried values and branch results that are required, each represented by its first value (CarriedValue).
  llvm::DenseSet<mlir::Value> carried;

private:
  bool needControl(mlir::Operation *op);
  bool visit(mlir::Value value);

  mlir::Operation *root;
  llvm::SmallVector<mlir::Value> worklist;
  llvm::DenseSet<mlir::Value> seen;
};

} // namespace tile
