// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds dots whose number of rows wgmma does not support, but which wgmma can compute with swapped operands, as c^T =
// b^T a^T.
//
// wgmma multiplies 64 rows of its left operand by 8 to 256 columns of its right operand. A dot with 16 rows would use a
// quarter of the 64 rows, and memory for 48 rows of zeros; a dot with 144 rows would take three instructions and use a
// quarter of the third. After swapping, these rows are columns of the right operand. Operands in shared memory may be
// read in either layout, so no data is moved.
#pragma once

#include "Analysis/Dots/DotPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// The source of the transposed accumulator of a swapped dot.
struct SwapPlan {
  mlir::scf::ForOp loop; ///< Carries the accumulator from dot to dot; null if it is a constant.
  unsigned index = 0;    ///< The index of the accumulator among the loop's arguments.
};

/// Returns true if all uses of the value, through layout conversions and transpositions, are as operand `side` (0 or 1)
/// of dots.
bool isOnlyMultiplied(mlir::Value value, unsigned side);

/// Returns true if wgmma does not support the dot's number of rows, which is less than 64 or not a power of two.
bool gainsBySwap(DotOp dot);

/// Plans a swap. Returns nullopt if the accumulator would have to be transposed for each dot. If the number of rows is
/// not a power of two, also returns nullopt if the left operand has other uses, or if another matrix of the
/// accumulator's shape is loaded: in the transposed accumulator, threads hold whole columns, and loads do not use such
/// a layout.
std::optional<SwapPlan> planSwap(DotOp dot);

} // namespace tile
