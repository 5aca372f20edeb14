// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Tile/ProgramLengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// Returns the slope of a minimum or maximum: the slope of the operand that varies, or of both if they have the same
/// slope. Returns nullopt for two different slopes that are not zero.
static std::optional<double> combine(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || (*a != 0 && *b != 0 && *a != *b))
    return std::nullopt;
  return *a != 0 ? a : b;
}

std::optional<double> ProgramLengths::getSlopeOfFactor(Value factor, unsigned axis) {
  Operation *op = factor.getDefiningOp();
  if (!op) // a block argument; the slopes of loop arguments are unknown
    return llvm::is_contained(kernel.getArguments(), factor) ? std::optional<double>(0) : std::nullopt;
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return id.getAxis() == axis ? 1 : 0;
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return combine(getSlope(op->getOperand(0), axis), getSlope(op->getOperand(1), axis));
  APInt divisor;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.isStrictlyPositive()) {
    std::optional<double> slope = getSlope(op->getOperand(0), axis);
    return slope ? std::optional(*slope / divisor.roundToDouble()) : std::nullopt;
  }
  if (op->getNumRegions() != 0)
    return std::nullopt;
  const bool isConstant = llvm::all_of(op->getOperands(), [&](Value operand) {
    return operand.getType().isIntOrIndex() ? getSlope(operand, axis) == 0 : !isa<RankedTensorType>(operand.getType());
  });
  return isConstant ? std::optional<double>(0) : std::nullopt;
}

std::optional<double> ProgramLengths::getSlope(Value number, unsigned axis) {
  std::optional<AffineBlock> form = blocks.get(number);
  return form && !form->base && form->isUniform() ? getSlope(form->start, axis) : std::nullopt;
}

std::optional<double> ProgramLengths::getSlope(const Polynomial &number, unsigned axis) {
  if (!number.isExact())
    return std::nullopt;
  double sum = 0;
  for (const Polynomial::Term &term : number.getTerms())
    for (Value factor : term.factors) {
      auto [place, isNew] = known.try_emplace({factor, axis}, std::nullopt);
      if (isNew) {
        std::optional<double> slope = getSlopeOfFactor(factor, axis);
        place = known.find({factor, axis}); // looked up again, since the map may have grown
        place->second = slope;
      }
      if (!place->second || (*place->second != 0 && term.factors.size() > 1))
        return std::nullopt;
      sum += double(term.coefficient) * *place->second;
    }
  return sum;
}

std::optional<double> ProgramLengths::getGrowth(unsigned axis) {
  double growth = 0;
  WalkResult result = kernel.walk([&](scf::ForOp loop) {
    std::optional<double> begin = getSlope(loop.getLowerBound(), axis), end = getSlope(loop.getUpperBound(), axis);
    if (!begin || !end)
      return WalkResult::interrupt();
    const double more = *end - *begin;
    APInt step;
    if (more != 0 && !matchPattern(loop.getStep(), m_ConstantInt(&step)))
      return WalkResult::interrupt();
    if (more != 0)
      growth += more / step.roundToDouble();
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(growth);
}
