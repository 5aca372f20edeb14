// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adding carried values to loops and branches.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Replaces a scf.for, scf.if or scf.while by one that also carries `values`, unchanged: they become the last results,
/// the last arguments of a loop's blocks, and the last operands of all terminators. Returns the new operation.
mlir::Operation *carryValues(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::ValueRange values);

} // namespace tile
