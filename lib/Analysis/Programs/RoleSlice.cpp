// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the backward slice of operations that one thread executes; see RoleSlice.h.
#include "Analysis/Programs/RoleSlice.h"

#include "Analysis/Flow/CarriedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

bool RoleSlice::add(Operation *op) {
  ops.insert(op);
  return needControl(op->getParentOp());
}

void RoleSlice::need(Value value) {
  if (seen.insert(value).second)
    worklist.push_back(value);
}

bool RoleSlice::close() {
  while (!worklist.empty())
    if (!visit(worklist.pop_back_val()))
      return false;
  return true;
}

/// Adds `op` and the control flow around it. Returns false if this control flow contains anything but loops and
/// branches.
bool RoleSlice::needControl(Operation *op) {
  for (; op != root; op = op->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, ProgramsOp>(op))
      return false;
    if (!ops.insert(op).second)
      break;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      need(loop.getLowerBound());
      need(loop.getUpperBound());
      need(loop.getStep());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      need(branch.getCondition());
    } else if (isa<ProgramsOp>(op)) {
      llvm::for_each(op->getOperands(), [&](Value size) { need(size); });
    } else {
      need(cast<scf::WhileOp>(op).getConditionOp().getCondition());
    }
  }
  return true;
}

bool RoleSlice::visit(Value value) {
  if (isa<RankedTensorType, cta::BufferType>(value.getType()))
    return false;
  Operation *op = value.getDefiningOp();
  if (!root->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  if (std::optional<CarriedValue> found = CarriedValue::of(value)) {
    carried.insert(found->values.front());
    for (OpOperand *operand : found->operands)
      need(operand->get());
    return needControl(op ? op : value.getParentBlock()->getParentOp());
  }
  if (!op) // a block argument: a parameter, a loop counter, or a program's coordinate
    return true;
  // A volatile load could return a different value in each role.
  auto load = dyn_cast<LoadOp>(op);
  bool hasEffects = load ? load.getIsVolatile() : !isMemoryEffectFree(op) && !isa<cta::MakeTensorMapOp>(op);
  bool makesTensor = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (op->getNumRegions() != 0 || hasEffects || makesTensor || !needControl(op->getParentOp()))
    return false;
  ops.insert(op);
  for (Value operand : op->getOperands())
    if (!isa<cta::BufferType>(
            operand.getType())) // a buffer is the staging memory of a tensor map, which is outside the roles
      need(operand);
  return true;
}
