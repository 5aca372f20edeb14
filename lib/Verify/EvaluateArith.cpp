// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates integer arithmetic. Addition, subtraction and multiplication are exact modulo 2^bits; other operations
// require values in range.
#include "Verify/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::verify {

static std::optional<int64_t> constantOperand(Operation *op, unsigned number) {
  APInt constant;
  if (matchPattern(op->getOperand(number), m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto splat = op->getOperand(number).getDefiningOp<SplatOp>();
  if (splat && matchPattern(splat.getScalar(), m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

IntegerTerm Evaluator::evaluateArith(Operation *op, const Index &index) {
  if (op->getNumResults() != 1)
    return unknownInteger(op->getResult(0), "the result of '" + op->getName().getStringRef().str() + "'");
  auto operand = [&](unsigned number) { return integer(op->getOperand(number), index); };
  return llvm::TypeSwitch<Operation *, IntegerTerm>(op)
      .Case([&](arith::AddIOp) {
        return IntegerTerm{operand(0).poly + operand(1).poly, merge(operand(0).needs, operand(1).needs)};
      })
      .Case([&](arith::SubIOp) {
        return IntegerTerm{operand(0).poly - operand(1).poly, merge(operand(0).needs, operand(1).needs)};
      })
      .Case([&](arith::MulIOp) {
        return IntegerTerm{operand(0).poly * operand(1).poly, merge(operand(0).needs, operand(1).needs)};
      })
      .Case([&](arith::TruncIOp) { return operand(0); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](Operation *) {
        IntegerTerm term = operand(0);
        requireRange(term, op->getOperand(0));
        return term;
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](Operation *) {
        if (getElementTypeOf(op->getOperand(0).getType()).isInteger(1)) {
          TruthTerm condition = truth(op->getOperand(0), index);
          return IntegerTerm{symbols.choose(condition.truth, 1, 0), condition.needs};
        }
        IntegerTerm term = operand(0);
        requireRange(term, op->getOperand(0), /*isUnsigned=*/true);
        return term;
      })
      .Case([&](arith::SelectOp select) {
        const bool isScalar = !isa<RankedTensorType>(select.getCondition().getType());
        TruthTerm condition = truth(select.getCondition(), isScalar ? Index() : index);
        IntegerTerm result{symbols.choose(condition.truth, operand(1).poly, operand(2).poly), condition.needs};
        mergeIf(result.needs, operand(1).needs, condition.truth);
        mergeIf(result.needs, operand(2).needs, !condition.truth);
        return result;
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp>([&](Operation *) { return evaluateDivision(op, index); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *) { return evaluateExtreme(op, index); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](Operation *) {
        IntegerTerm left = operand(0), right = operand(1);
        IntegerTerm result = unknownInteger(op->getResult(0), "bits that are combined at " + lineOf(op->getLoc()));
        const Interval ofLeft = symbols.boundsOf(left.poly), ofRight = symbols.boundsOf(right.poly);
        const Wide largest = std::max(ofLeft.high, ofRight.high);
        if (ofLeft.low < 0 || ofRight.low < 0 || largest > std::numeric_limits<int32_t>::max())
          return result;
        requireRange(left, op->getOperand(0));
        requireRange(right, op->getOperand(1));
        // Result bits above the highest bit of either operand are zero.
        symbols.at(*result.poly.getSymbol()).range = {0, Wide(llvm::NextPowerOf2(uint64_t(largest))) - 1};
        result.needs = merge(left.needs, right.needs);
        return result;
      })
      .Case<arith::AndIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](Operation *) { return evaluateBits(op, index); })
      .Default([&](Operation *) {
        return unknownInteger(op->getResult(0),
                              "the result of '" + op->getName().getStringRef().str() + "' at " + lineOf(op->getLoc()));
      });
}

IntegerTerm Evaluator::evaluateDivision(Operation *op, const Index &index) {
  const bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op),
             isFloor = isa<arith::FloorDivSIOp>(op), isCeil = isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  IntegerTerm value = integer(op->getOperand(0), index), divisor = integer(op->getOperand(1), index);
  requireRange(value, op->getOperand(0), isUnsigned);
  requireRange(divisor, op->getOperand(1), isUnsigned);
  Needs all = merge(value.needs, divisor.needs);
  if (symbols.boundsOf(divisor.poly).low <= 0)
    require(all, !Formula::equal(divisor.poly, 0), op->getLoc(), "the divisor is not zero");
  if (isCeil) {
    auto [negated, other] = symbols.divide(Poly(0) - value.poly, divisor.poly, /*isFloor=*/true);
    return {Poly(0) - negated, all};
  }
  auto [quotient, remainder] = symbols.divide(value.poly, divisor.poly, isFloor);
  return {isa<arith::RemSIOp, arith::RemUIOp>(op) ? remainder : quotient, all};
}

IntegerTerm Evaluator::evaluateExtreme(Operation *op, const Index &index) {
  const bool isUnsigned = isa<arith::MinUIOp, arith::MaxUIOp>(op);
  IntegerTerm left = integer(op->getOperand(0), index), right = integer(op->getOperand(1), index);
  requireRange(left, op->getOperand(0), isUnsigned);
  requireRange(right, op->getOperand(1), isUnsigned);
  const Poly result = isa<arith::MinSIOp, arith::MinUIOp>(op) ? symbols.smaller(left.poly, right.poly)
                                                              : symbols.larger(left.poly, right.poly);
  return {result, merge(left.needs, right.needs)};
}

IntegerTerm Evaluator::evaluateBits(Operation *op, const Index &index) {
  IntegerTerm value = integer(op->getOperand(0), index);
  std::optional<int64_t> constant = constantOperand(op, 1);
  const std::string why = "bits that are taken at " + lineOf(op->getLoc());
  if (!constant || *constant < 0)
    return unknownInteger(op->getResult(0), why);
  if (isa<arith::AndIOp>(op)) {
    if (*constant < std::numeric_limits<int64_t>::max() && llvm::isPowerOf2_64(uint64_t(*constant) + 1))
      return {symbols.divide(value.poly, Poly(*constant + 1), /*isFloor=*/true).second, value.needs};
    IntegerTerm result = unknownInteger(op->getResult(0), why);
    symbols.at(*result.poly.getSymbol()).range = {0, *constant};
    return result;
  }
  if (*constant > 62)
    return unknownInteger(op->getResult(0), why);
  const Poly scale = Wide(1) << *constant;
  if (isa<arith::ShLIOp>(op))
    return {value.poly * scale, value.needs};
  requireRange(value, op->getOperand(0), /*isUnsigned=*/isa<arith::ShRUIOp>(op));
  return {symbols.divide(value.poly, scale, /*isFloor=*/true).first, value.needs};
}

} // namespace tile::verify
