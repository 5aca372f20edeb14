// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps values and operands of structured control flow to each other.
#include "Analysis/Flow/CarriedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

static CarriedValue carriedBy(scf::ForOp loop, unsigned index) {
  return {{loop.getRegionIterArg(index), loop->getResult(index)},
          {&loop.getInitArgsMutable()[index], &loop.getBody()->getTerminator()->getOpOperand(index)}};
}

static CarriedValue resultOf(scf::IfOp branch, unsigned index) {
  return {{branch.getResult(index)},
          {&branch.thenYield()->getOpOperand(index), &branch.elseYield()->getOpOperand(index)}};
}

/// Returns the carried value that the loop's condition region receives.
static CarriedValue carriedToCondition(scf::WhileOp loop, unsigned index) {
  return {{loop.getBeforeArguments()[index]},
          {&loop.getInitsMutable()[index], &loop.getYieldOp()->getOpOperand(index)}};
}

/// Returns the carried value that the condition region passes to the body and to the loop's results.
static CarriedValue carriedFromCondition(scf::WhileOp loop, unsigned index) {
  return {{loop.getAfterArguments()[index], loop->getResult(index)}, {&loop.getConditionOp().getArgsMutable()[index]}};
}

std::optional<CarriedValue> CarriedValue::of(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    unsigned index = result.getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      return carriedBy(loop, index);
    if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
      return resultOf(branch, index);
    if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
      return carriedFromCondition(loop, index);
    return std::nullopt;
  }
  auto argument = cast<BlockArgument>(value);
  unsigned index = argument.getArgNumber();
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return index == 0 ? std::nullopt : std::optional(carriedBy(loop, index - 1));
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return argument.getOwner() == loop.getBeforeBody() ? carriedToCondition(loop, index)
                                                       : carriedFromCondition(loop, index);
  return std::nullopt;
}

std::optional<CarriedValue> CarriedValue::fedBy(OpOperand &operand) {
  Operation *op = operand.getOwner();
  unsigned index = operand.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return index < loop.getNumControlOperands() ? std::nullopt
                                                : std::optional(carriedBy(loop, index - loop.getNumControlOperands()));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return carriedToCondition(loop, index);
  if (isa<scf::ConditionOp>(op))
    return index == 0 ? std::nullopt
                      : std::optional(carriedFromCondition(cast<scf::WhileOp>(op->getParentOp()), index - 1));
  if (!isa<scf::YieldOp>(op))
    return std::nullopt;
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return carriedBy(loop, index);
  if (auto branch = dyn_cast<scf::IfOp>(parent))
    return resultOf(branch, index);
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return carriedToCondition(loop, index);
  return std::nullopt;
}
