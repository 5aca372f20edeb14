// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward data flow over structured control flow, for facts about points in the program rather than about values.
//
//   flowThrough(block, state, transfer) calls transfer(op, state) for the operations in program order. Where two paths
//   join, the states are joined; a loop's body is visited until nothing new reaches its start.
//
// `State` is copyable and has `bool join(const State &)`, which returns whether anything was added; a state must not be
// able to grow infinitely often. `transfer` may be called more than once for an operation, each time with a larger
// state.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

template <typename State>
void flowThrough(mlir::Block &block, State &state, llvm::function_ref<void(mlir::Operation *, State &)> transfer);

/// Returns the state at the end of `region` if `state` is the state at its start; for an empty region, returns `state`.
template <typename State>
State flowThrough(mlir::Region &region, State state, llvm::function_ref<void(mlir::Operation *, State &)> transfer) {
  if (!region.empty())
    flowThrough(region.front(), state, transfer);
  return state;
}

/// Processes the regions of an operation; `transfer` has already processed the operation itself.
template <typename State>
void flowThroughRegions(mlir::Operation *op, State &state,
                        llvm::function_ref<void(mlir::Operation *, State &)> transfer) {
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
    State other = flowThrough(branch.getElseRegion(), state, transfer);
    state = flowThrough(branch.getThenRegion(), state, transfer);
    state.join(other);
    return;
  }
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
    // The loop exits from the first region, after the condition.
    while (true) {
      State afterCondition = flowThrough(loop.getBefore(), state, transfer);
      if (!state.join(flowThrough(loop.getAfter(), afterCondition, transfer))) {
        state = afterCondition;
        return;
      }
    }
  }
  // Roles run concurrently; synchronization through rings and mbarriers is not modelled here.
  if (auto roles = mlir::dyn_cast<cta::WarpRolesOp>(op)) {
    const State start = state;
    for (mlir::Region &body : roles.getBodies())
      state.join(flowThrough(body, start, transfer));
    return;
  }
  // The operation is a for loop, or its regions run in an unknown order, so that each may follow any other.
  bool changed = op->getNumRegions() != 0;
  while (changed) {
    changed = false;
    for (mlir::Region &region : op->getRegions())
      changed |= state.join(flowThrough(region, state, transfer));
  }
}

template <typename State>
void flowThrough(mlir::Block &block, State &state, llvm::function_ref<void(mlir::Operation *, State &)> transfer) {
  for (mlir::Operation &op : block) {
    transfer(&op, state);
    flowThroughRegions(&op, state, transfer);
  }
}

} // namespace tile
