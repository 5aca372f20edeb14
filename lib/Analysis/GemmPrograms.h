// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A persistent kernel whose programs each accumulate over one main loop: what can be cut along k.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tile {

struct GemmPrograms {
  ProgramsOp programs;
  mlir::scf::ForOp steps; ///< Carries the accumulator, and other sums from zero, such as those of an operand's columns.
  unsigned accumulator;   ///< Among the loop's results; only has dots added to it.

  cta::WgmmaOp getProduct() { return mlir::cast<cta::WgmmaOp>(*steps.getRegionIterArg(accumulator).user_begin()); }
  mlir::RankedTensorType getSumType() {
    return mlir::cast<mlir::RankedTensorType>(steps.getResult(accumulator).getType());
  }
  /// After the loop, adds up what CTAs that share its steps have got.
  void emitCombines(mlir::RewriterBase &rewriter, mlir::IntegerAttr columnsOfAccumulator);
};

/// None if the kernel has another form, or does something before the main loop that must not happen twice.
std::optional<GemmPrograms> findGemmPrograms(KernelOp kernel);

/// The main loop of a kernel whose CTAs have one program each: it accumulates dots and advances pointers.
struct MainLoop {
  mlir::scf::ForOp loop;
  unsigned accumulator; ///< among the loop's results; it starts from zero and only has dots added to it
  /// What each iteration adds to the other values that the loop carries: the same number for all elements, known
  /// before.
  llvm::SmallVector<std::pair<unsigned, AddPtrOp>> advances;

  mlir::Value getAccumulator() { return loop.getResult(accumulator); }
};

/// None if the kernel has another form, or does something before the loop that must not happen twice.
std::optional<MainLoop> findMainLoop(KernelOp kernel);

/// The number that is added to all elements of a pointer, at the insertion point, which is outside of `outer`; null if
/// they differ or it depends on what happens inside.
mlir::Value hoistOffset(AddPtrOp add, mlir::Operation *outer, mlir::RewriterBase &rewriter);

/// What the kernel has done so far becomes the program of a tile.programs, which is all that it does; but for what
/// computes `sizes`.
ProgramsOp wrapPrograms(KernelOp kernel, mlir::ValueRange sizes, WorkAttr work);

/// After the loop of which it is a result, adds up what CTAs that share its steps have got.
void emitCombine(mlir::Value accumulator, mlir::IntegerAttr columns, mlir::RewriterBase &rewriter);

/// A copy of `value`, which is computed inside of `outer`, at the insertion point outside of it; null if it depends on
/// the iteration of a loop, on a branch or on memory.
mlir::Value hoistOutOf(mlir::Operation *outer, mlir::Value value, mlir::RewriterBase &rewriter);

/// Whether hoistOutOf() can copy all of them.
bool canHoistOutOf(mlir::Operation *outer, mlir::ValueRange values);

/// The lower bound, the upper bound and the step of a loop.
llvm::SmallVector<mlir::Value> getBounds(mlir::scf::ForOp loop);

} // namespace tile
