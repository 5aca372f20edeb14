// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits comparisons, logic, selection, minimum and maximum.

#include "Frontend/Emit/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::frontend {

static arith::CmpFPredicate floatPredicate(CompareOp op) {
  switch (op) {
  case CompareOp::Lt:
    return arith::CmpFPredicate::OLT;
  case CompareOp::Gt:
    return arith::CmpFPredicate::OGT;
  case CompareOp::LtE:
    return arith::CmpFPredicate::OLE;
  case CompareOp::GtE:
    return arith::CmpFPredicate::OGE;
  case CompareOp::NotEq:
    return arith::CmpFPredicate::UNE;
  default:
    return arith::CmpFPredicate::OEQ;
  }
}

static arith::CmpIPredicate integerPredicate(CompareOp op, bool isUnsigned) {
  switch (op) {
  case CompareOp::Lt:
    return isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  case CompareOp::Gt:
    return isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  case CompareOp::LtE:
    return isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
  case CompareOp::GtE:
    return isUnsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
  case CompareOp::NotEq:
    return arith::CmpIPredicate::ne;
  default:
    return arith::CmpIPredicate::eq;
  }
}

SymValue Emitter::compare(CompareOp op, const SymValue &leftValue, const SymValue &rightValue, SourceRange range) {
  // A literal is not weak in a comparison: fp16 > 0.5 is evaluated in fp32.
  SymValue left = toTensor(leftValue, range), right = toTensor(rightValue, range);
  // Addresses compare as unsigned integers.
  for (SymValue *operand : {&left, &right})
    if (operand->isTensor() && operand->type.isPointer)
      *operand = cast(*operand, Scalar::UInt64, range);
  if (left.isError() || right.isError() || !unify(left, right, /*isDivision=*/false, range))
    return {};
  if (left.type.isFp8())
    return error(Diag::fp8_arithmetic, range, {toString(left.type)});
  Location loc = location(range);
  mlir::Value result;
  if (left.type.isFloat())
    result = arith::CmpFOp::create(builder, loc, floatPredicate(op), left.value, right.value);
  else
    result = arith::CmpIOp::create(builder, loc, integerPredicate(op, left.type.isUnsigned()), left.value, right.value);
  return SymValue::makeTensor(result, Scalar::Int1);
}

SymValue Emitter::logical(BoolOperator op, const SymValue &leftValue, const SymValue &rightValue, SourceRange range) {
  SymValue left = leftValue, right = rightValue;
  for (const SymValue *operand : {&left, &right}) {
    if (operand->isError())
      return {};
    if (!operand->isTensor() || !operand->type.isBool())
      return error(Diag::logical_operand, range, {std::string(spelling(op)), describe(*operand)});
  }
  if (!broadcastTogether(left, right, range))
    return {};
  Location loc = location(range);
  if (op == BoolOperator::And)
    return SymValue::makeTensor(arith::AndIOp::create(builder, loc, left.value, right.value), Scalar::Int1);
  return SymValue::makeTensor(arith::OrIOp::create(builder, loc, left.value, right.value), Scalar::Int1);
}

SymValue Emitter::minimumOrMaximum(bool isMaximum, const SymValue &leftValue, const SymValue &rightValue,
                                   bool propagateNan, SourceRange range) {
  SymValue left = leftValue, right = rightValue;
  if (!unify(left, right, /*isDivision=*/false, range))
    return {};
  if (left.type.isPointer || left.type.isFp8())
    return error(Diag::not_a_number, range, {describe(left)});
  Location loc = location(range);
  mlir::Value a = left.value, b = right.value, result;
  if (left.type.isFloat() && propagateNan)
    result = isMaximum ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                       : arith::MinimumFOp::create(builder, loc, a, b).getResult();
  else if (left.type.isFloat())
    result = isMaximum ? arith::MaxNumFOp::create(builder, loc, a, b).getResult()
                       : arith::MinNumFOp::create(builder, loc, a, b).getResult();
  else if (left.type.isUnsigned())
    result = isMaximum ? arith::MaxUIOp::create(builder, loc, a, b).getResult()
                       : arith::MinUIOp::create(builder, loc, a, b).getResult();
  else
    result = isMaximum ? arith::MaxSIOp::create(builder, loc, a, b).getResult()
                       : arith::MinSIOp::create(builder, loc, a, b).getResult();
  return SymValue::makeTensor(result, left.type);
}

SymValue Emitter::select(const SymValue &conditionValue, const SymValue &thenValue, const SymValue &elseValue,
                         SourceRange range) {
  SymValue chosen = cast(toTensor(conditionValue, range), Scalar::Int1, range);
  SymValue left = thenValue, right = elseValue;
  if (chosen.isError() || !unify(left, right, /*isDivision=*/false, range))
    return {};
  // Broadcast the values to the condition's shape; a scalar condition selects between whole blocks.
  if (chosen.isBlock()) {
    if (!broadcastTogether(chosen, left, range) || !broadcastTogether(left, right, range) ||
        !broadcastTogether(chosen, right, range))
      return {};
  }
  mlir::Value result = arith::SelectOp::create(builder, location(range), chosen.value, left.value, right.value);
  return SymValue::makeTensor(result, left.type);
}

} // namespace tile::frontend
