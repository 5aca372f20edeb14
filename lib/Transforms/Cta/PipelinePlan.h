// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which operations of a loop are executed in earlier iterations than their users, and their order in a round.
//
//   scalars from which addresses of copies are computed   one iteration before these copies
//   copies into shared memory                             slots - 1 iterations, or slots, before their use
//   operands of the first step of a chain of MMAs         during the last step of the previous iteration
//   loads into registers                                  one iteration ahead
//
// Loads into registers are prefetched in three cases. First, if the loaded values are multiplied by FMA or mma.sync.
// Second, in loops with wgmmas on TMA blocks, if there are only a few loads: scales, maxima and sums of rows, or the
// indices of the next blocks, would otherwise arrive after the wgmma is complete. Third, if a loop without MMAs reduces
// the loaded values: memory would be idle from the arrival of the loads to the end of the reduction, because all warps
// of the CTA reach the reduction's barriers at about the same time. In loops without reductions, more threads keep more
// loads in flight, so prefetched values may take only a few registers, unless the loop already carries so many values
// that only a few threads are resident. Short loops that neither reduce nor store are unrolled instead, so that the
// loads of four iterations are issued at once.
#pragma once

#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"

#include <optional>
#include <string>

namespace tile {

/// Operations besides copies that are executed one iteration ahead, in a loop that only computes one dot in K steps.
struct LookAhead {
  llvm::DenseSet<mlir::Operation *> loads; ///< The loads of the first step's operands.
  mlir::Operation *lastStep;
};

struct PipelinePlan {
  int64_t slots = 0;       ///< The slots of each destination buffer; 0 without copies.
  bool isShort = false;    ///< Each iteration has a separate slot.
  bool copiesLast = false; ///< Copies follow the MMAs and reuse the slots of the previous iteration.
  bool inFlight = false;   ///< MMAs stay in flight while copies are awaited; otherwise cta-schedule-loop decides.
  llvm::DenseSet<mlir::Operation *> indices; ///< Loads from which the addresses of copies are computed.
  llvm::DenseSet<mlir::Operation *> values;  ///< Loads into registers that are executed one iteration ahead.
  std::optional<LookAhead> ahead;
  /// Recomputes the addresses of `values` for all other users, so that only loaded values are carried across
  /// iterations.
  bool separates = false;
  unsigned unroll = 1; ///< The unroll factor. If it is above 1, the loop is only unrolled.

  /// The stages of the schedule: if there are `indices`, one iteration for them; then the copies, their arrival and
  /// their use.
  unsigned getCopy() const { return indices.empty() ? 0 : 1; }
  unsigned getArrival() const { return getCopy() + slots - (isShort ? 0 : 1); }
  unsigned getUse() const { return slots == 0 ? 1 : getCopy() + slots - (ahead || isShort ? 0 : 1); }

  /// Describes the plan: "copies run 3 iterations ahead, 2 loads run an iteration ahead".
  std::string print() const;
};

/// Plans the prefetches of a loop. Returns nullopt if nothing can be prefetched: `num_stages` is 1, shared memory holds
/// no second slot, threads have no spare registers, or earlier iterations write the loaded data.
std::optional<PipelinePlan> planPipeline(mlir::scf::ForOp loop, const target::GpuTarget &target);

/// Returns true for operations that copy asynchronously or commit copies.
bool isCopy(mlir::Operation *op);

/// Returns true for the wait for copies and the fence after it, in a loop whose buffers have their slots.
bool isArrival(mlir::Operation *op);

/// Schedules all operations of the body. In a loop with copies, each buffer already has its slots, and there is one
/// wait at the start.
LoopSchedule planOrder(mlir::scf::ForOp loop, const PipelinePlan &plan);

} // namespace tile
