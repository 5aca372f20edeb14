// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analyses persistent kernels whose programs each accumulate in one main loop, which can be split along k.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tile {

struct GemmPrograms {
  ProgramsOp programs;
  /// The main loop. It carries the accumulator and other sums that start from zero, such as sums over an operand's
  /// columns.
  mlir::scf::ForOp steps;
  unsigned accumulator; ///< The accumulator's index among the loop's results. Only dots are added to the accumulator.

  cta::WgmmaOp getWgmma() { return mlir::cast<cta::WgmmaOp>(*steps.getRegionIterArg(accumulator).user_begin()); }
  mlir::RankedTensorType getAccumulatorType() {
    return mlir::cast<mlir::RankedTensorType>(steps.getResult(accumulator).getType());
  }
  /// Emits operations after the loop that combine the partial sums of CTAs that share the loop's iterations.
  void emitCombines(mlir::RewriterBase &rewriter, mlir::IntegerAttr columnsOfAccumulator);
};

/// Finds the programs and the main loop of a kernel. Returns nullopt if the kernel has a different structure, or
/// executes something before the main loop that must not happen twice.
std::optional<GemmPrograms> findGemmPrograms(KernelOp kernel);

/// The main loop of a kernel whose CTAs have one program each: it accumulates dots and advances pointers.
struct MainLoop {
  mlir::scf::ForOp loop;
  unsigned accumulator; ///< the accumulator's index among the loop's results; it starts from zero, and only dots are
                        ///< added to it
  /// The other values that the loop carries, by index, with their increments. An increment is the same for all
  /// elements, and known before the loop.
  llvm::SmallVector<std::pair<unsigned, AddPtrOp>> advances;

  mlir::Value getAccumulator() { return loop.getResult(accumulator); }
};

/// Finds the main loop. Returns nullopt if the kernel has a different structure, or executes something before the loop
/// that must not happen twice.
std::optional<MainLoop> findMainLoop(KernelOp kernel);

/// Returns the integer that `add` adds to all elements of a block of pointers, computed at the insertion point outside
/// `outer`. Returns null if the elements' offsets differ, or depend on values computed inside `outer`.
mlir::Value hoistOffset(AddPtrOp add, mlir::Operation *outer, mlir::RewriterBase &rewriter);

/// Wraps the kernel's body in a tile.programs, except for the computation of `sizes`.
ProgramsOp wrapPrograms(KernelOp kernel, mlir::ValueRange sizes, WorkAttr work);

/// Emits the operation that combines the partial sums of CTAs that share the iterations of the loop whose result is
/// `accumulator`.
void emitCombine(mlir::Value accumulator, mlir::IntegerAttr columns, mlir::RewriterBase &rewriter);

/// Copies the computation of `value` from inside `outer` to the insertion point outside `outer`. Returns null if the
/// value depends on the iteration of a loop, on a branch or on memory.
mlir::Value hoistOutOf(mlir::Operation *outer, mlir::Value value, mlir::RewriterBase &rewriter);

/// Returns true if hoistOutOf() can copy all of `values`.
bool canHoistOutOf(mlir::Operation *outer, mlir::ValueRange values);

/// Returns the lower bound, the upper bound and the step of a loop.
llvm::SmallVector<mlir::Value> getBounds(mlir::scf::ForOp loop);

} // namespace tile
