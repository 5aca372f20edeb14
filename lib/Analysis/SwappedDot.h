// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dots whose rows wgmma does not have: whether it computes them with their operands swapped, c^T = b^T
// a^T.
//
// wgmma multiplies 64 rows of its left operand by 8 to 256 columns of its right one. A dot with 16 rows fills a
// quarter of that, and the memory that 48 rows of zeros take, and one with 144 rows two times and a quarter of it;
// transposed, columns of b are its rows. Operands lie in shared memory and may be read in either order there, so that
// nothing is moved.
#pragma once

#include "Analysis/DotPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// How a swapped dot gets its transposed accumulator.
struct SwapPlan {
  mlir::scf::ForOp loop; ///< That carries the accumulator from dot to dot; null if it is a constant.
  unsigned index = 0;    ///< Of the accumulator in the loop's arguments.
};

/// Whether the value, seen through changes of its layout and transpositions, is nothing but operand 0 or 1 of dots.
bool isOnlyMultiplied(mlir::Value value, unsigned side);

/// Whether wgmma does not have the dot's rows: fewer than 64, or no power of two.
bool gainsBySwap(DotOp dot);

/// None if the accumulator would have to be transposed for each dot. Also none for rows that are no power of two if the
/// left operand is used otherwise, too, or another matrix like the accumulator is loaded: threads have whole columns of
/// the transposed accumulator, in which nothing is loaded.
std::optional<SwapPlan> planSwap(DotOp dot);

} // namespace tile
