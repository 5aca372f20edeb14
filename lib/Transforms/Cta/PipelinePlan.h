// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop does in iterations before the one that uses it, and in which order a round does it.
//
//   numbers that addresses of copies are computed from    an iteration before these copies
//   copies into shared memory                             slots - 1 iterations, or slots, before they are used
//   operands of the first step of a chain of products     under the last step of the iteration before
//   loads into registers                                  an iteration ahead
//
// Loads into registers run ahead where what they hold is multiplied by threads or warps; beside products of warp groups
// whose blocks TMA brings, if they are few: scales, maxima and sums of rows, or the numbers of the next blocks would
// come later than the product that they are loaded beside; and where a loop without products reduces what it loads:
// memory would be idle from the arrival of the loads to the end of the reduction, whose barriers all warps of the CTA
// reach at about the same time. Other loops keep more in flight by having more threads, so there only few registers may
// be taken, unless the loop carries so many that threads are few anyway. Short loops that neither reduce nor store are
// unrolled instead, so that the loads of four iterations are issued at once.
#pragma once

#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"

#include <optional>
#include <string>

namespace tile {

/// What a loop that only computes a product in steps does an iteration ahead, besides copies.
struct LookAhead {
  llvm::DenseSet<mlir::Operation *> loads; ///< Of the operands of the first step.
  mlir::Operation *lastStep;
};

struct PipelinePlan {
  int64_t slots = 0;       ///< Of each buffer that is copied to; none without copies.
  bool isShort = false;    ///< Each iteration has its slot.
  bool copiesLast = false; ///< After products: into the slots of those of the iteration before.
  bool inFlight = false;   ///< These are, while the next copies are awaited; else of cta-schedule-loop.
  llvm::DenseSet<mlir::Operation *> indices; ///< Loads of what the addresses of copies are computed from.
  llvm::DenseSet<mlir::Operation *> values;  ///< Loads into registers that run an iteration ahead.
  std::optional<LookAhead> ahead;
  /// Addresses of `values` are computed again for whatever else needs them, so that only what is loaded crosses
  /// iterations.
  bool separates = false;
  unsigned unroll = 1; ///< By how many iterations; if more than one, all else is as it was.

  /// The stages: an iteration for the numbers that the addresses of copies are computed from, the others between the
  /// copies and their arrival, and their use.
  unsigned getCopy() const { return indices.empty() ? 0 : 1; }
  unsigned getArrival() const { return getCopy() + slots - (isShort ? 0 : 1); }
  unsigned getUse() const { return slots == 0 ? 1 : getCopy() + slots - (ahead || isShort ? 0 : 1); }

  /// "copies run 3 iterations ahead, loads of 2 values one".
  std::string print() const;
};

/// None if nothing runs ahead: `num_stages` is 1, shared memory holds no second slot, threads have no registers to
/// spare, or earlier iterations write what is read.
std::optional<PipelinePlan> planPipeline(mlir::scf::ForOp loop, const target::GpuTarget &target);

/// The operations that copy asynchronously, or commit copies.
bool isCopy(mlir::Operation *op);

/// The wait for copies, and the fence after it, in a loop whose buffers have their slots.
bool isArrival(mlir::Operation *op);

/// All operations of the body. In a loop with copies each buffer has its slots, and one wait is at the start.
LoopSchedule planOrder(mlir::scf::ForOp loop, const PipelinePlan &plan);

} // namespace tile
