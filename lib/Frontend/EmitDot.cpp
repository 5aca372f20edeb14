// Builtin: tl.dot, with Triton's rules on types, precision and accumulators.

#include "Frontend/Builtins.h"

using namespace mlir;

namespace tile::frontend {

static std::optional<InputPrecision> inputPrecision(BuiltinCall &call) {
  constexpr size_t precisionIndex = 3, tf32Index = 4;
  if (!call.isNone(precisionIndex) && !call.isNone(tf32Index)) {
    call.sema.error(Diag::dot_precision_twice, call.rangeOf(tf32Index));
    return std::nullopt;
  }
  if (!call.isNone(tf32Index)) {
    std::optional<bool> allowed = call.flag(tf32Index);
    if (!allowed)
      return std::nullopt;
    return *allowed ? InputPrecision::tf32 : InputPrecision::ieee;
  }
  std::optional<std::string> text = call.text(precisionIndex);
  if (!text)
    return std::nullopt;
  if (text->empty())
    return InputPrecision::tf32;
  if (std::optional<InputPrecision> precision = symbolizeInputPrecision(*text))
    return precision;
  if (*text == "bf16x3" || *text == "bf16x6")
    call.sema.error(Diag::not_supported, call.rangeOf(precisionIndex), {"input_precision '" + *text + "'"});
  else
    call.sema.error(Diag::unknown_option, call.rangeOf(precisionIndex),
                    {"input_precision", *text, "'tf32', 'tf32x3' or 'ieee'"});
  return std::nullopt;
}

/// The smallest inner dimension that one tensor-core instruction takes, by the width of the operands.
static int64_t minimumK(DType type) {
  switch (type.bits()) {
  case 8:
    return 32;
  case 16:
    return 16;
  case 32:
    return 8;
  default:
    return 4;
  }
}

static bool checkOperands(BuiltinCall &call, const SymValue &a, const SymValue &b) {
  Sema &sema = call.sema;
  if (a.shape().size() != 2 || b.shape().size() != 2) {
    bool isBatched = a.shape().size() == 3 && b.shape().size() == 3;
    if (isBatched)
      sema.error(Diag::not_supported, call.range, {"a batched (3-D) tl.dot"});
    else
      sema.error(Diag::dot_rank, call.range, {describe(a), describe(b)});
    return false;
  }
  bool isKnown = a.type.isFloat() || a.type.is(Scalar::Int8);
  bool sameTypes = a.type == b.type || (a.type.isFp8() && b.type.isFp8());
  if (!isKnown || !sameTypes || b.type.isPointer) {
    sema.error(Diag::dot_types, call.range, {describe(a), describe(b)});
    return false;
  }
  if (a.shape()[1] != b.shape()[0]) {
    sema.error(Diag::dot_inner, call.range,
               {describe(a), describe(b), std::to_string(a.shape()[1]), std::to_string(b.shape()[0])});
    return false;
  }
  if (a.shape()[1] < minimumK(a.type)) {
    sema.error(Diag::dot_small, call.range,
               {std::to_string(a.shape()[1]), std::to_string(minimumK(a.type)), toString(a.type)});
    return false;
  }
  return true;
}

/// Type of the result: fixed by the operands except for fp16, where the caller may choose fp16.
static std::optional<DType> resultType(BuiltinCall &call, DType operand) {
  constexpr size_t accIndex = 2, outIndex = 6;
  if (operand.is(Scalar::Int8))
    return DType(Scalar::Int32);
  if (operand.is(Scalar::Float64))
    return DType(Scalar::Float64);
  if (!operand.is(Scalar::Float16))
    return DType(Scalar::Float32);
  DType type = Scalar::Float32;
  if (!call.isNone(outIndex)) {
    std::optional<DType> wanted = call.dtype(outIndex);
    if (!wanted)
      return std::nullopt;
    type = *wanted;
  } else if (call[accIndex].isTensor()) {
    type = call[accIndex].type;
  }
  if (type.is(Scalar::Float32) || type.is(Scalar::Float16))
    return type;
  call.sema.error(Diag::dot_result, call.range, {toString(type), toString(operand)});
  return std::nullopt;
}

/// trans_a, trans_b: arguments of the first versions of tl.dot.
static bool transposeOperands(BuiltinCall &call, SymValue &a, SymValue &b) {
  constexpr size_t transA = 7, transB = 8;
  for (auto [index, operand] : {std::pair{transA, &a}, std::pair{transB, &b}}) {
    std::optional<bool> isTransposed = call.flag(index);
    if (!isTransposed)
      return false;
    if (*isTransposed && operand->shape().size() == 2)
      *operand = call.sema.permute(*operand, {1, 0}, call.rangeOf(index));
  }
  return true;
}

SymValue emitDot(Sema &sema, BuiltinCall &call) {
  SymValue a = call.block(0), b = call.block(1);
  if (a.isError() || b.isError() || !transposeOperands(call, a, b) || !checkOperands(call, a, b))
    return {};
  std::optional<InputPrecision> precision = inputPrecision(call);
  if (a.type.is(Scalar::Float32) && call.isNone(3) && call.isNone(4))
    sema.warn(Diag::tf32_dot, call.range).fixItArgument(call.range, "input_precision=\"ieee\"");
  std::optional<DType> type = resultType(call, a.type);
  if (!precision || !type)
    return {};
  int64_t shape[2] = {a.shape()[0], b.shape()[1]};
  SymValue acc = call[2];
  if (acc.isError())
    return {};
  if (acc.isNoneValue())
    acc = sema.makeSplat(Value(Int128(0)), *type, shape, call.range);
  bool fits = acc.isBlock() && acc.shape() == ArrayRef<int64_t>(shape) && acc.type == *type;
  if (!fits)
    return sema.error(Diag::dot_accumulator, call.rangeOf(2),
                      {describe(acc), toString(*type), std::to_string(shape[0]), std::to_string(shape[1])});
  mlir::Value result = DotOp::create(sema.builder, sema.location(call.range), acc.value.getType(), a.value, b.value,
                                     acc.value, *precision);
  return SymValue::makeTensor(result, *type);
}

} // namespace tile::frontend
