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
  /// The layouts of operands in registers; nullopt for an operand in shared memory.
  std::optional<layout::LinearLayout> a, b;
  /// The layouts of scales in registers; nullopt if there are no such scales.
  std::optional<layout::LinearLayout> aScale = std::nullopt, bScale = std::nullopt;
};
DotPlan planDot(DotOp dot, unsigned numWarps);
/// Calls `visit` with each operand in registers and its layout, the accumulator last.
void forEachOperand(DotOp dot, const DotPlan &plan,
                    llvm::function_ref<void(mlir::OpOperand &, const layout::LinearLayout &)> visit);

/// The operation that produces a dot's operand. traceOperand finds it through layout conversions, transpositions and
/// reshapes that drop or add leading dimensions of size 1.
struct SharedOperand {
  mlir::Operation *source = nullptr; ///< Null for a block argument.
  bool transposed = false;
};
SharedOperand traceOperand(mlir::Value operand);

/// Skips the transpositions and layout conversions of an operand. Returns their input, which threads store to shared
/// memory, and whether the operand is the transpose of this input.
std::pair<mlir::Value, bool> skipTranspositions(mlir::Value operand);

/// Drops leading dimensions of size 1 from a block that has more dimensions than a matrix. A TMA copy has coordinates
/// for these dimensions, but they are not part of the matrix that it copies.
llvm::ArrayRef<int64_t> dropLeadingOnes(llvm::ArrayRef<int64_t> block);

/// Returns true if the launcher or the kernel encodes a tensor map for the descriptor.
bool hasTensorMap(mlir::Value desc);

/// Returns true if TMA copies the operand to shared memory.
bool isBlock(const SharedOperand &operand);

/// Returns true if a left operand of 16- or 8-bit elements is computed from the results of other dots, like the
/// probabilities of attention. The operand is then already in registers.
bool isComputedFromDots(DotOp dot);
/// Returns true if this dot's left operand is computed element by element from another dot's accumulator, or another
/// dot's left operand from this dot's accumulator. Also returns true if this holds for a dot that shares this dot's
/// accumulator, or whose result is combined with values computed from this dot's result.
bool isInChain(DotOp dot);

/// Returns true if a left operand of 16-bit elements is computed, for this dot alone, from data that its loop loads
/// through pointers: matrices of 16-bit or 32-bit elements, and vectors. Threads then read copies of the matrices in
/// the fragment layout, and no thread waits for another thread's part.
bool isComputedFromLoads(DotOp dot);

/// Returns true if a left operand that is not a block should be passed to wgmma in registers: it is computed from other
/// dots, possibly with rows and columns that are prefetched, or it is invariant in the dot's loop. An operand that is
/// loaded anew for each dot should not be passed in registers: the dot would have to wait for the loads, whereas a
/// prefetched copy of the operand serves other engines.
bool staysInRegisters(DotOp dot);

/// Returns true if an accumulator that is converted to the left operand's type has the layout of the left operand's
/// fragments, which holds for 16-bit types.
bool isFragmentOfAccumulators(DotOp dot);

/// Returns true if a left operand may be passed to wgmma in registers: it has 16- or 8-bit elements.
bool mayComeFromRegisters(DotOp dot);

/// Returns the number of registers that the accumulators carried by a loop take in each thread, with this number of
/// warps.
int64_t countCarriedAccumulators(mlir::LoopLikeOpInterface loop, unsigned numWarps);

} // namespace tile
