// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of AxisInfo for individual operations; used by the data-flow analysis in AxisInfo.cpp only.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"

namespace tile {

/// Returns the largest power of two that divides `value`.
int64_t getPowerOfTwoDivisor(int64_t value);

/// Returns the facts of result `index` of `op`. `operands` are the facts of its operands; all operands must have been
/// reached.
AxisInfo inferAxisInfo(mlir::Operation *op, unsigned index, llvm::ArrayRef<const AxisInfo *> operands);

/// Returns the facts of an argument of a kernel's entry block.
AxisInfo inferArgumentAxisInfo(mlir::BlockArgument argument);

/// Adds the facts that `tile.assume` states about the scalar in the block that computes it: non-negativity or
/// divisibility.
void addAssumptions(mlir::Value value, AxisInfo &info);

} // namespace tile
