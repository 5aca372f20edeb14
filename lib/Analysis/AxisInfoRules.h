// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of AxisInfo for single operations; used by the data-flow analysis in AxisInfo.cpp only.
#pragma once

#include "Analysis/AxisInfo.h"

namespace tile {

/// The largest power of two that divides `value`.
int64_t getPowerOfTwoDivisor(int64_t value);

/// What `op`'s result number `index` is, given its operands; `operands` are in order and all known.
AxisInfo inferAxisInfo(mlir::Operation *op, unsigned index, llvm::ArrayRef<const AxisInfo *> operands);

/// What the argument of the entry block of a kernel is.
AxisInfo inferArgumentAxisInfo(mlir::BlockArgument argument);

/// Adds what `tile.assume` says of the scalar where it is computed: that it is not negative, or a multiple of
/// something.
void addAssumptions(mlir::Value value, AxisInfo &info);

} // namespace tile
