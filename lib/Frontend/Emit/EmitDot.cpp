// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin: tl.dot, with Triton's rules on types, precision and accumulators.

#include "Frontend/Emit/Builtins.h"

using namespace mlir;

namespace tile::frontend {

static std::optional<InputPrecision> inputPrecision(BuiltinCall &call) {
  constexpr size_t precisionIndex = 3, tf32Index = 4;
  if (!call.isNone(precisionIndex) && !call.isNone(tf32Index)) {
    call.sema.error(Diag::dot_precision_twice, call.rangeOf(tf32Index));
    return std::nullopt;
  }
  // Run-time values are true, like all Python objects.
  if (!call.isNone(tf32Index) && !call[tf32Index].isTensor()) {
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
  // These compute three or six bf16 dots; tf32x3 is more precise than either.
  if (*text == "bf16x3" || *text == "bf16x6")
    return InputPrecision::tf32x3;
  call.sema.error(Diag::unknown_option, call.rangeOf(precisionIndex),
                  {"input_precision", *text, "'tf32', 'tf32x3', 'ieee', 'bf16x3' or 'bf16x6'"});
  return std::nullopt;
}

/// Returns the number of products along K that tensor cores may accumulate in less than fp32 precision; Triton's
/// default for sm_90 is all of them.
static std::optional<uint32_t> maxNumImpreciseAcc(BuiltinCall &call, const SymValue &a) {
  constexpr size_t index = 5;
  constexpr uint32_t all = 1u << 30;
  if (!a.type.isFp8()) // other types have full precision in any case
    return 0;
  if (call.isNone(index))
    return all;
  std::optional<int64_t> number = call.integer(index);
  if (!number)
    return std::nullopt;
  if (*number >= 0 && *number <= a.shape()[1])
    return uint32_t(*number);
  call.sema.error(Diag::dot_imprecise, call.rangeOf(index), {std::to_string(*number), std::to_string(a.shape()[1])});
  return std::nullopt;
}

/// Returns the smallest K of one tensor-core instruction, by operand width.
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
  Emitter &sema = call.sema;
  if (a.shape().size() != 2 || b.shape().size() != 2) {
    sema.error(Diag::dot_rank, call.range, {describe(a) + " and " + describe(b)});
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

/// Returns the result type. The operands determine it, except that the caller may choose fp16 for fp16 and fp8
/// operands.
static std::optional<DType> resultType(BuiltinCall &call, DType operand) {
  constexpr size_t accIndex = 2, outIndex = 6;
  if (operand.is(Scalar::Int8))
    return DType(Scalar::Int32);
  if (operand.is(Scalar::Float64))
    return DType(Scalar::Float64);
  if (!operand.is(Scalar::Float16) && !operand.isFp8())
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

/// Transposes an operand if the flag trans_a or trans_b of earlier Triton versions is set.
static SymValue transposed(BuiltinCall &call, const SymValue &matrix) {
  return matrix.isError() ? matrix : callValues(call, "trans", {matrix});
}

/// Emits a batched dot: one dot for each matrix, concatenated along the first dimension.
static SymValue emitBatch(Emitter &sema, BuiltinCall &call, const SymValue &a, const SymValue &b) {
  int64_t count = a.shape()[0];
  std::optional<InputPrecision> precision = inputPrecision(call);
  if (b.shape()[0] != count)
    return sema.error(Diag::dot_batch, call.range, {describe(a), describe(b)});
  if (!precision)
    return {};
  SymValue indices = sema.arange(0, count, call.range);
  for (int dim : {1, 2})
    indices = sema.expandDims(indices, dim, call.range);
  // Emit phase by phase instead of dot by dot, so that the operands of all dots are adjacent, and so are their results.
  SmallVector<BuiltinCall> calls;
  for (int64_t i = 0; i < count; ++i) {
    SymValue number = SymValue::makeConstant(Int128(i));
    BuiltinCall &one = calls.emplace_back(call);
    one.arguments[0].value = sema.elementAt(a, 0, number, call.range);
    one.arguments[1].value = sema.elementAt(b, 0, number, call.range);
    if (const SymValue &acc = call[2]; acc.isBlock() && acc.shape().size() == 3 && acc.shape()[0] == count)
      one.arguments[2].value = sema.elementAt(acc, 0, number, call.rangeOf(2));
    one.arguments[3].value = SymValue::makeConstant(stringifyInputPrecision(*precision).str());
    one.arguments[4].value = SymValue::makeConstant(NoneValue{});
    for (size_t flag : {7, 8})
      one.arguments[flag].value = SymValue::makeConstant(false);
  }
  SmallVector<SymValue> dots;
  for (BuiltinCall &one : calls)
    if (dots.emplace_back(emitDot(sema, one)).isError())
      return {};
  SymValue whole = sema.makeSplat(Value(Int128(0)), dots.front().type,
                                  {count, dots.front().shape()[0], dots.front().shape()[1]}, call.range);
  for (auto [index, dot] : llvm::enumerate(dots)) {
    SymValue isOwn = sema.compare(CompareOp::Eq, indices, SymValue::makeConstant(Int128(index)), call.range);
    whole = sema.select(isOwn, sema.expandDims(dot, 0, call.range), whole, call.range);
  }
  return whole;
}

/// Emits a dot of more than three dimensions: merges all dimensions except the last two into one.
static SymValue emitManyDimensions(Emitter &sema, BuiltinCall &call, const SymValue &a, const SymValue &b) {
  size_t rank = a.shape().size();
  SmallVector<int64_t> leading(a.shape().drop_back(2));
  if (b.shape().size() != rank || b.shape().drop_back(2) != ArrayRef(leading))
    return sema.error(Diag::dot_batch, call.range, {describe(a), describe(b)});
  auto flattened = [&](const SymValue &value) {
    SmallVector<int64_t> shape{ShapedType::getNumElements(leading)};
    llvm::append_range(shape, value.shape().take_back(2));
    return sema.reshape(value, shape, call.range);
  };
  BuiltinCall flat = call;
  flat.arguments[0].value = flattened(a);
  flat.arguments[1].value = flattened(b);
  if (const SymValue &acc = call[2]; acc.isBlock() && acc.shape().size() == rank)
    flat.arguments[2].value = flattened(acc);
  for (size_t flag : {7, 8})
    flat.arguments[flag].value = SymValue::makeConstant(false);
  SymValue dot = emitDot(sema, flat);
  if (dot.isError())
    return {};
  llvm::append_range(leading, dot.shape().take_back(2));
  return sema.reshape(dot, leading, call.range);
}

SymValue emitDot(Emitter &sema, BuiltinCall &call) {
  SymValue a = call.block(0), b = call.block(1);
  std::optional<bool> transA = call.flag(7), transB = call.flag(8);
  if (!transA || !transB)
    return {};
  for (auto [operand, isTransposed] : {std::pair{&a, *transA}, {&b, *transB}}) {
    if (isTransposed)
      *operand = transposed(call, *operand);
    if (operand->type.is(Scalar::Float8E4B15))
      *operand = sema.cast(*operand, Scalar::Float16, call.range);
  }
  if (a.isError() || b.isError())
    return {};
  if (a.shape().size() > 3)
    return emitManyDimensions(sema, call, a, b);
  if (a.shape().size() == 3 && b.shape().size() == 3)
    return emitBatch(sema, call, a, b);
  if (!checkOperands(call, a, b))
    return {};
  std::optional<InputPrecision> precision = inputPrecision(call);
  if (a.type.is(Scalar::Float32) && call.isNone(3) && call.isNone(4))
    sema.warn(Diag::tf32_dot, call.range).fixItArgument(call.range, "input_precision=\"ieee\"");
  std::optional<DType> type = resultType(call, a.type);
  std::optional<uint32_t> imprecise = maxNumImpreciseAcc(call, a);
  if (!precision || !type || !imprecise)
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
  // fp8 dots accumulate in fp32, whatever the type of the accumulator.
  bool isWidened = a.type.isFp8() && type->is(Scalar::Float16);
  if (isWidened)
    acc = sema.cast(acc, Scalar::Float32, call.range);
  mlir::Value result = DotOp::create(sema.builder, sema.location(call.range), a.value, b.value, acc.value, *precision,
                                     *imprecise, /*engine=*/Engine());
  SymValue sum = SymValue::makeTensor(result, acc.type);
  return isWidened ? sema.cast(sum, *type, call.range) : sum;
}

} // namespace tile::frontend
