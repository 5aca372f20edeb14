// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: elementwise arithmetic and functions.

#include "Frontend/Emit/Builtins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::frontend {

static SymValue emitOperator(Emitter &sema, BuiltinCall &call, BinaryOp op) {
  if (call[0].isConstant() && call[1].isConstant())
    return sema.fromResult(evaluate(op, call[0].constant, call[1].constant), call.range);
  return sema.binary(op, call[0], call[1], call.range);
}

SymValue emitAdd(Emitter &sema, BuiltinCall &call) {
  return emitOperator(sema, call, BinaryOp::Add);
}
SymValue emitSub(Emitter &sema, BuiltinCall &call) {
  return emitOperator(sema, call, BinaryOp::Sub);
}
SymValue emitMul(Emitter &sema, BuiltinCall &call) {
  return emitOperator(sema, call, BinaryOp::Mult);
}

/// Emits a division. fp32 is correctly rounded if ieee_rounding is set; other types are always correctly rounded.
static SymValue divide(Emitter &sema, const SymValue &left, const SymValue &right, std::optional<bool> ieeeRounding,
                       SourceRange range) {
  SymValue quotient = sema.binary(BinaryOp::Div, left, right, range);
  if (!ieeeRounding.value_or(false) || quotient.isError() || !quotient.type.is(Scalar::Float32))
    return quotient;
  auto division = quotient.value.getDefiningOp<arith::DivFOp>();
  if (!division)
    return quotient; // folded
  quotient.value = RoundedOp::create(sema.builder, division.getLoc(), division.getType(), RoundedKind::div,
                                     Rounding::rn, division->getOperands(), /*is_unsigned=*/false);
  division.erase();
  return quotient;
}

SymValue emitDivide(Emitter &sema, BuiltinCall &call) {
  SymValue left = call.tensor(0), right = call.tensor(1);
  for (const SymValue *operand : {&left, &right}) {
    if (operand->isError())
      return {};
    if (!operand->type.isFloat())
      return sema.error(Diag::float_needed, call.range, {std::string(call.info.name), describe(*operand)});
  }
  return divide(sema, call[0], call[1], call.flag(2), call.range);
}

/// Emits (x + (div - 1)) // div, with the division of the operands' type.
SymValue emitCdiv(Emitter &sema, BuiltinCall &call) {
  SymValue one = SymValue::makeConstant(Int128(1));
  SymValue less = call[1].isConstant()
                      ? sema.fromResult(evaluate(BinaryOp::Sub, call[1].constant, one.constant), call.range)
                      : sema.binary(BinaryOp::Sub, call[1], one, call.range);
  return sema.binary(BinaryOp::FloorDiv, sema.binary(BinaryOp::Add, call[0], less, call.range), call[1], call.range);
}

SymValue emitLogicalAnd(Emitter &sema, BuiltinCall &call) {
  return sema.logical(BoolOperator::And, call.tensor(0), call.tensor(1), call.range);
}

SymValue emitLogicalOr(Emitter &sema, BuiltinCall &call) {
  return sema.logical(BoolOperator::Or, call.tensor(0), call.tensor(1), call.range);
}

SymValue emitWhere(Emitter &sema, BuiltinCall &call) {
  SymValue condition = call.tensor(0);
  if (condition.isError())
    return {};
  if (!condition.type.isBool())
    sema.warn(Diag::where_condition, call.rangeOf(0), {describe(condition)})
        .fixIt({call.rangeOf(0).end, call.rangeOf(0).end, call.range.file}, " != 0");
  // If both operands are constants, no tensor determines the type.
  bool bothConstant = call[1].isConstant() && call[2].isConstant();
  SymValue left = bothConstant ? call.tensor(1) : call[1], right = bothConstant ? call.tensor(2) : call[2];
  return sema.select(condition, left, right, call.range);
}

/// Returns an operand of minimum, maximum or clamp: literals are treated as tensors, bf16 is widened to fp32.
static SymValue widened(BuiltinCall &call, size_t index) {
  SymValue value = call.tensor(index);
  if (value.isError() || !value.type.is(Scalar::BFloat16))
    return value;
  return call.sema.cast(value, Scalar::Float32, call.rangeOf(index));
}

static SymValue emitElementwiseExtremum(Emitter &sema, BuiltinCall &call, bool isMaximum) {
  SymValue left = widened(call, 0), right = widened(call, 1);
  std::optional<bool> propagateNan = call.flag(2);
  if (left.isError() || right.isError() || !propagateNan)
    return {};
  return sema.minimumOrMaximum(isMaximum, left, right, *propagateNan, call.range);
}

SymValue emitMinimum(Emitter &sema, BuiltinCall &call) {
  return emitElementwiseExtremum(sema, call, false);
}
SymValue emitMaximum(Emitter &sema, BuiltinCall &call) {
  return emitElementwiseExtremum(sema, call, true);
}

SymValue emitClamp(Emitter &sema, BuiltinCall &call) {
  SymValue x = widened(call, 0), low = widened(call, 1), high = widened(call, 2);
  std::optional<bool> propagateNan = call.flag(3);
  if (x.isError() || low.isError() || high.isError() || !propagateNan)
    return {};
  if (!x.type.isFloat())
    return sema.error(Diag::float_needed, call.rangeOf(0), {"clamp", describe(x)});
  SymValue raised = sema.minimumOrMaximum(true, x, low, *propagateNan, call.range);
  return raised.isError() ? SymValue() : sema.minimumOrMaximum(false, raised, high, *propagateNan, call.range);
}

SymValue emitFma(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0), y = call.tensor(1), z = call.tensor(2);
  if (!sema.unify(x, y, false, call.range) || !sema.unify(x, z, false, call.range) ||
      !sema.unify(x, y, false, call.range) || !sema.unify(y, z, false, call.range))
    return {};
  if (!x.type.isFloat() || x.type.isFp8())
    return sema.error(Diag::float_needed, call.rangeOf(0), {"fma", describe(x)});
  mlir::Value result = math::FmaOp::create(sema.builder, sema.location(call.range), x.value, y.value, z.value);
  return SymValue::makeTensor(result, x.type);
}

SymValue emitAbs(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0);
  if (x.isError())
    return {};
  if (x.type.isPointer)
    return sema.error(Diag::not_a_number, call.rangeOf(0), {describe(x)});
  if (x.type.isFp8()) { // clears the sign bit
    SymValue bits = SymValue::makeTensor(x.value, Scalar::Int8);
    if (!x.type.is(Scalar::Float8E4B15))
      bits = sema.bitcast(x, Scalar::Int8, call.range);
    bits =
        sema.binary(BinaryOp::BitAnd, bits, sema.makeNumber(Value(Int128(0x7f)), Scalar::Int8, call.range), call.range);
    return x.type.is(Scalar::Float8E4B15) ? SymValue::makeTensor(bits.value, x.type)
                                          : sema.bitcast(bits, x.type, call.range);
  }
  if (x.type.isUnsigned())
    return x;
  Location loc = sema.location(call.range);
  mlir::Value result = x.type.isFloat() ? math::AbsFOp::create(sema.builder, loc, x.value).getResult()
                                        : math::AbsIOp::create(sema.builder, loc, x.value).getResult();
  return SymValue::makeTensor(result, x.type);
}

/// Emits a function that only exists for fp32 and fp64, as in Triton; implicit widening would hide the loss of
/// precision.
template <typename Op> static SymValue emitFunction(Emitter &sema, BuiltinCall &call, const SymValue &x) {
  if (x.isError())
    return {};
  if (!x.type.is(Scalar::Float32) && !x.type.is(Scalar::Float64))
    return sema.error(Diag::fp32_needed, call.rangeOf(0), {std::string(call.info.name), describe(x)});
  return SymValue::makeTensor(Op::create(sema.builder, sema.location(call.range), x.value), x.type);
}

template <typename Op> static SymValue emitFunction(Emitter &sema, BuiltinCall &call) {
  return emitFunction<Op>(sema, call, call.tensor(0));
}

SymValue emitExp(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::ExpOp>(sema, call);
}
SymValue emitExp2(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::Exp2Op>(sema, call);
}
SymValue emitLog(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::LogOp>(sema, call);
}
SymValue emitLog2(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::Log2Op>(sema, call);
}
SymValue emitSin(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::SinOp>(sema, call);
}
SymValue emitCos(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::CosOp>(sema, call);
}
SymValue emitSqrt(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::SqrtOp>(sema, call);
}
SymValue emitRsqrt(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::RsqrtOp>(sema, call);
}
SymValue emitErf(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::ErfOp>(sema, call);
}
SymValue emitTanh(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::TanhOp>(sema, call);
}
SymValue emitFloor(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::FloorOp>(sema, call);
}
SymValue emitCeil(Emitter &sema, BuiltinCall &call) {
  return emitFunction<math::CeilOp>(sema, call);
}

/// Emits 1 / (1 + exp(-x)).
SymValue emitSigmoid(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0), one = SymValue::makeConstant(Int128(1));
  if (x.isError() || x.type.isPointer)
    return x.isError() ? SymValue() : sema.error(Diag::fp32_needed, call.rangeOf(0), {"sigmoid", describe(x)});
  SymValue power = emitFunction<math::ExpOp>(sema, call, sema.unary(UnaryOp::Minus, x, call.range));
  return sema.binary(BinaryOp::Div, one, sema.binary(BinaryOp::Add, one, power, call.range), call.range);
}

/// Emits exp(x - max) / sum(exp(x - max)) along one dimension, by default the first.
SymValue emitSoftmax(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.block(0);
  if (x.isError())
    return {};
  SymValue axis = call.isNone(1) ? SymValue::makeConstant(Int128(0)) : call[1];
  SymValue keep = SymValue::makeConstant(true), no = SymValue::makeConstant(false),
           none = SymValue::makeConstant(NoneValue{});
  auto reduce = [&](const char *name, const SymValue &value, SymValue third, SymValue fourth, SymValue fifth) {
    const BuiltinInfo *info = findBuiltin(name);
    BuiltinCall reduction{sema, *info, call.range, {}};
    SymValue values[] = {value, axis, std::move(third), std::move(fourth), std::move(fifth)};
    const char *names[] = {"input", "axis", "", "", ""};
    for (size_t i = 0; i < 5; ++i)
      reduction.arguments.push_back({names[i], values[i], i == 1 ? call.rangeOf(1) : call.range, true});
    return info->emit(sema, reduction);
  };
  SymValue largest = reduce("max", x, no, keep, keep);
  if (largest.isError())
    return {};
  SymValue power = emitFunction<math::ExpOp>(sema, call, sema.binary(BinaryOp::Sub, x, largest, call.range));
  if (power.isError())
    return {};
  return divide(sema, power, reduce("sum", power, keep, none, none), call.flag(3), call.range);
}

} // namespace tile::frontend
