// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the operations whose results differ between CTAs, and propagates the differences forward.
#include "Transforms/Cta/RankDependence.h"

#include "Analysis/Flow/CarriedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

RankDependence::RankDependence(KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    bool isSame = isa<KernelOp, scf::ForOp, scf::IfOp, scf::WhileOp, cta::WarpRolesOp, ProgramsOp>(op) ||
                  (isMemoryEffectFree(op) && !isa<cta::ClusterRankOp, ProgramIdOp>(op));
    // Allocations have the same address in all CTAs, and operations that take ring slots take the same slot in all
    // CTAs.
    if (!isSame && !isa<cta::AllocOp, cta::MbarrierAllocOp, cta::RingAllocOp, cta::RingAcquireOp, cta::RingWaitOp>(op))
      addResults(op);
    if (auto programs = dyn_cast<ProgramsOp>(op))
      addPlace(programs);
  });
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses())
      propagate(use);
}

bool RankDependence::mayDiverge(Operation *op) const {
  for (; op && !isa<KernelOp>(op); op = op->getParentOp())
    if (divergent.contains(op))
      return true;
  return false;
}

void RankDependence::add(Value value) {
  if (values.insert(value).second)
    worklist.push_back(value);
}

/// Adds the program coordinates that differ. The CTAs of a cluster have adjacent programs, or different K steps of the
/// same program; without clusters, each CTA has a separate program.
void RankDependence::addPlace(ProgramsOp programs) {
  WorkAttr work = programs.getWork();
  if (!work.getCluster() && work.getSplitK() == 1) {
    divergent.insert(programs);
    return addResults(programs);
  }
  for (auto [axis, extent] : llvm::enumerate(work.getClusterShape()))
    if (extent != 1)
      add(programs.getCoordinates()[axis]);
  if (work.getCluster())
    add(programs.getExists());
  else
    add(programs.getFirstStep());
}

void RankDependence::addResults(Operation *op) {
  for (Value result : op->getResults())
    add(result);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        add(argument);
}

void RankDependence::propagate(OpOperand &use) {
  Operation *user = use.getOwner();
  if (std::optional<CarriedValue> carried = CarriedValue::fedBy(use)) {
    llvm::for_each(carried->values, [&](Value value) { add(value); });
    return;
  }
  if (isa<scf::YieldOp, scf::ConditionOp>(user))
    user = user->getParentOp();
  if (user->getNumRegions() != 0)
    divergent.insert(user);
  addResults(user);
}
