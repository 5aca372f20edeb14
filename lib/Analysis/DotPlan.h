// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dots: their operands, and the layouts that their engines require.
#pragma once

#include "Cta/CtaDialect.h"
#include "Layout/MmaLayouts.h"

#include <optional>

namespace tile {

/// The layouts that the dot's engine requires.
struct DotPlan {
  layout::LinearLayout accumulator;
  /// The layouts of operands in registers; none for an operand in shared memory.
  std::optional<layout::LinearLayout> a, b;
  /// The layouts of scales in registers, likewise.
  std::optional<layout::LinearLayout> aScale = std::nullopt, bScale = std::nullopt;
};
DotPlan planDot(DotOp dot, unsigned numWarps);
/// Calls `visit` for each operand in registers, the accumulator last, with its layout.
void forEachOperand(DotOp dot, const DotPlan &plan,
                    llvm::function_ref<void(mlir::OpOperand &, const layout::LinearLayout &)> visit);

/// The operation that produces a dot's operand, looking through layout conversions, transpositions and leading
/// dimensions of size 1.
struct SharedOperand {
  mlir::Operation *source = nullptr; ///< Null for a block argument.
  bool transposed = false;
};
SharedOperand traceOperand(mlir::Value operand);

/// Returns the value of an operand that is stored, before transpositions and conversions, and whether it is transposed.
std::pair<mlir::Value, bool> skipTranspositions(mlir::Value operand);

/// Drops leading dimensions of size 1 from a block with more dimensions than a matrix: they are not part of a TMA copy
/// but coordinates of it.
llvm::ArrayRef<int64_t> dropLeadingOnes(llvm::ArrayRef<int64_t> block);

/// Returns true if the launcher or the kernel encodes a tensor map for the descriptor.
bool hasTensorMap(mlir::Value desc);

/// Returns true if TMA copies the operand to shared memory.
bool isBlock(const SharedOperand &operand);

/// Returns true if a left operand of 16-bit elements is computed from other dots (the probabilities of attention): the
/// accumulator's registers are those of a left operand.
bool isComputedFromDots(DotOp dot);
/// Returns true if a left operand is computed element by element from this dot's accumulator, or this dot's from
/// others. Also if that holds for a dot that shares its accumulator, or whose accumulator is combined with values
/// computed from it.
bool isInChain(DotOp dot);

/// Returns true if a left operand of 16-bit elements is computed, for this dot alone, from matrices of 16-bit or
/// 32-bit elements and vectors that its loop loads through pointers: threads read copies of them in the fragment
/// layout, and none waits for the part of another.
bool isComputedFromLoads(DotOp dot);

/// Returns true if a left operand that is not a block should be passed to wgmma in registers: it is computed from other
/// dots, possibly with rows and columns that are prefetched, or is loop-invariant in the dot's loop. Other operands
/// that are loaded for each dot would be awaited there; other engines prefetch their copies.
bool staysInRegisters(DotOp dot);

/// Returns true if an accumulator, converted to the left operand's type, is a fragment of it: it has 16-bit elements.
bool isFragmentOfAccumulators(DotOp dot);

/// Returns true if a left operand may be passed to wgmma in registers: it has 16- or 8-bit elements.
bool mayComeFromRegisters(DotOp dot);

/// Returns the registers of a thread for the accumulators that a loop carries, with this number of warps.
int64_t countCarriedAccumulators(mlir::LoopLikeOpInterface loop, unsigned numWarps);

} // namespace tile
