// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Software pipelining of a loop by a given schedule.
//
// With stages 0 … S, a round of the new loop does the operations of stage s of the iteration that is S - s after its
// own. What the first iterations do before the first round stands before the loop. The last rounds reach iterations
// that the loop does not have, whose operations are under a condition:
//
//   for i = a to b step s { 0: x = load i; 1: use x }
//   ==>
//   x0 = load a if a < b
//   for i = a to b step s (x = x0) { x' = load (i + s) if i < b - s; use x; yield x' }
//
// No condition adds to a variable, or subtracts from a bound, what could overflow (Analysis/LoopRange.h).
#pragma once

#include "Transforms/Cta/LoopStages.h"

namespace tile {

/// Puts an operation, of an iteration that may not exist, under a condition.
using PredicateOp = llvm::function_ref<void(mlir::RewriterBase &, mlir::Operation *, mlir::Value)>;

/// Replaces the loop and returns the new one. The schedule has all operations of the body, which make all that is
/// yielded (nameYields()). Operands come from the same stage or earlier ones; those of the iteration before may also
/// come from the next stage, and then from operations that precede in the schedule.
mlir::scf::ForOp expandPipeline(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop, const LoopSchedule &schedule,
                                PredicateOp predicate);

} // namespace tile
