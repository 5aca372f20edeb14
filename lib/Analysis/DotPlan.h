// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dot: what its operands are, and the layouts that its engine needs.
#pragma once

#include "Cta/CtaDialect.h"
#include "Layout/MmaLayouts.h"

#include <optional>

namespace tile {

/// The layouts that the dot's engine needs.
struct DotPlan {
  layout::LinearLayout accumulator;
  /// Of the operands in registers; none for an operand in shared memory.
  std::optional<layout::LinearLayout> a, b;
};
DotPlan planDot(DotOp dot, unsigned numWarps);

/// What makes a dot's operand, seen through conversions of its layout, transpositions and leading dimensions of size 1.
struct SharedOperand {
  mlir::Operation *source = nullptr; ///< Null for a block argument.
  bool transposed = false;
};
SharedOperand traceOperand(mlir::Value operand);

/// What is stored of an operand: what is transposed, or converted, to make it, and whether it is transposed.
std::pair<mlir::Value, bool> skipTranspositions(mlir::Value operand);

/// The block as a matrix, if it has only leading dimensions of size 1 beyond: these are no part of a copy by TMA but
/// coordinates of it.
llvm::ArrayRef<int64_t> dropLeadingOnes(llvm::ArrayRef<int64_t> block);

/// Whether the launcher or the kernel makes a tensor map for the descriptor.
bool hasTensorMap(mlir::Value desc);

/// Whether TMA puts the operand into shared memory.
bool isBlock(const SharedOperand &operand);

/// Whether a left operand of 16-bit elements is computed from other products (the probabilities of attention): the
/// accumulator's registers are those of a left operand.
bool isComputedFromDots(DotOp dot);
/// Whether a left operand is computed from this product's accumulator or this one's from others, element by element, or
/// whether that is so for a product with which it shares its accumulator, or whose accumulator meets what is computed
/// from them.
bool isInChain(DotOp dot);

/// Whether a left operand of 16-bit elements is computed, for this product alone, from matrices of 16-bit elements and
/// vectors that its loop loads through pointers: ldmatrix reads copies of them as the product takes them, and none of
/// the threads waits for another's part.
bool isComputedFromLoads(DotOp dot);

/// Whether a left operand that is not a block should go to warp groups from registers: it is computed from other
/// products, also with rows and columns that run ahead of these, or the same in each iteration of the dot's loop. What
/// else is loaded for each product would be waited for there; other instructions have it copied ahead.
bool staysInRegisters(DotOp dot);

/// Whether an accumulator, converted to the left operand's type, is a fragment of it: it has 16-bit elements.
bool isFragmentOfAccumulators(DotOp dot);

/// Whether a left operand may go to warp groups from registers: it has elements of 16 or 8 bits.
bool mayComeFromRegisters(DotOp dot);

/// Registers of a thread for the accumulators that a loop carries, of so many warps.
int64_t countCarriedSums(mlir::LoopLikeOpInterface loop, unsigned numWarps);

} // namespace tile
