// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dots whose number of rows wgmma does not support, but which it can compute with swapped operands, c^T = b^T a^T.
//
// wgmma multiplies 64 rows of its left operand by 8 to 256 columns of its right one. A dot with 16 rows would use a
// quarter of that, and memory for 48 rows of zeros; a dot with 144 rows would take three instructions and use a quarter
// of the third. Transposed, the rows become columns of the right operand. Operands in shared memory may be read in
// either layout, so no data is moved.
#pragma once

#include "Analysis/DotPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// The source of the transposed accumulator of a swapped dot.
struct SwapPlan {
  mlir::scf::ForOp loop; ///< Carries the accumulator from dot to dot; null if it is a constant.
  unsigned index = 0;    ///< The index of the accumulator among the loop's arguments.
};

/// Returns true if the value, looking through layout conversions and transpositions, is used only as operand 0 or 1 of
/// dots.
bool isOnlyMultiplied(mlir::Value value, unsigned side);

/// Returns true if wgmma does not support the dot's number of rows: fewer than 64, or not a power of two.
bool gainsBySwap(DotOp dot);

/// Plans a swap. Returns nullopt if the accumulator would have to be transposed for each dot. Also returns nullopt for
/// a number of rows that is not a power of two if the left operand has other uses, or another matrix of the
/// accumulator's shape is loaded: threads hold whole columns of the transposed accumulator, and loads do not use such a
/// layout.
std::optional<SwapPlan> planSwap(DotOp dot);

} // namespace tile
