// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Software pipelining of a loop by a given schedule.
//
// With stages 0 … S, round i of the new loop executes stage s of iteration i + S - s. The prologue executes the
// operations of the first iterations that precede the first round. In the last rounds, early stages belong to
// iterations beyond the end; their operations are predicated:
//
//   for i = a to b step s { 0: x = load i; 1: use x }
//   ==>
//   x0 = load a if a < b
//   for i = a to b step s (x = x0) { x' = load (i + s) if i < b - s; use x; yield x' }
//
// No condition computes a variable or bound that could overflow (Analysis/Loops/LoopRange.h).
#pragma once

#include "Transforms/Cta/LoopStages.h"

namespace tile {

/// Predicates an operation of an iteration that may not exist.
using PredicateOp = llvm::function_ref<void(mlir::RewriterBase &, mlir::Operation *, mlir::Value)>;

/// Replaces the loop and returns the new one. The schedule must contain all operations of the body, and operations of
/// the body must produce all yielded values (nameYields()). Operands must come from the same or an earlier stage. An
/// operand from the previous iteration may also come from the next stage, if the producer precedes the user in the
/// schedule.
mlir::scf::ForOp expandPipeline(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop, const LoopSchedule &schedule,
                                PredicateOp predicate);

} // namespace tile
