// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin: tl.dot_scaled, a dot of operands in microscaling formats (OCP, "Microscaling Formats (MX)").
//
// Every 32 elements along K share a scale 2^(s - 127), given as the byte s; or every 16 elements share a scale of type
// e4m3 (NVFP4). No supported target multiplies them directly, so both operands are converted to bf16 (fp16 if one of
// them is), which represents all values exactly, and scaled.

#include "Frontend/Emit/Builtins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr int64_t elementsPerByteScale = 32, elementsPerFloatScale = 16;

class ScaledOperand {
public:
  ScaledOperand(BuiltinCall &call, DType type) : call(call), sema(call.sema), type(type) {}

  /// Converts the operand at 'index', with its format, to a matrix of the common type. 'axis' is that of K; 'packed' is
  /// the one along which two elements share a byte.
  SymValue convert(size_t index, size_t formatIndex, size_t scaleIndex, int64_t axis, int64_t packed) {
    SymValue value = call.block(index);
    std::optional<std::string> format = call.text(formatIndex);
    if (value.isError() || !format)
      return {};
    if (value.shape().size() != 2)
      return sema.error(Diag::dot_rank, call.rangeOf(index), {describe(value)});
    value = *format == "e2m1" ? unpack(value, packed) : decode(value, *format, index, formatIndex);
    if (value.isError() || call.isNone(scaleIndex))
      return value;
    return applyScale(value, scaleIndex, axis);
  }

private:
  SymValue op(BinaryOp kind, const SymValue &a, const SymValue &b) { return sema.binary(kind, a, b, call.range); }

  SymValue decode(const SymValue &value, const std::string &format, size_t index, size_t formatIndex) {
    DType wanted;
    if (format == "e4m3")
      wanted = Scalar::Float8E4M3;
    else if (format == "e5m2")
      wanted = Scalar::Float8E5M2;
    else if (format == "bf16")
      wanted = Scalar::BFloat16;
    else if (format == "fp16")
      wanted = Scalar::Float16;
    else
      return sema.error(Diag::unknown_option, call.rangeOf(formatIndex),
                        {"format", format, "'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16'"});
    if (value.type.bits() != wanted.bits())
      return sema.error(Diag::operand_types, call.rangeOf(index), {describe(value), "'" + format + "'"});
    SymValue typed = sema.bitcast(value, wanted, call.range);
    return wanted == type ? typed : sema.cast(sema.cast(typed, Scalar::Float32, call.range), type, call.range);
  }

  /// Decodes a 4-bit float (sign, 2-bit exponent with bias 1, 1-bit mantissa) to bf16 bits.
  SymValue decodeNibble(const SymValue &nibble) {
    SymValue magnitude = op(BinaryOp::BitAnd, nibble, constant(7));
    SymValue sign = op(BinaryOp::LShift, op(BinaryOp::BitAnd, nibble, constant(8)), constant(12));
    // Values from 2 up are normal: exponent e means 2^(e - 1); the bias of bf16 is 127.
    SymValue normal = op(BinaryOp::Add, op(BinaryOp::LShift, magnitude, constant(6)), constant(126 << 7));
    SymValue half = sema.select(sema.compare(CompareOp::Eq, magnitude, constant(1), call.range), constant(0x3F00),
                                constant(0), call.range);
    SymValue bits = sema.select(sema.compare(CompareOp::GtE, magnitude, constant(2), call.range), normal,
                                sema.cast(half, Scalar::Int32, call.range), call.range);
    bits = sema.cast(op(BinaryOp::BitOr, bits, sign), Scalar::Int16, call.range);
    SymValue value = sema.bitcast(bits, Scalar::BFloat16, call.range);
    return sema.cast(value, type, call.range);
  }

  /// Unpacks two elements per byte, adjacent along the axis, the first in the low half.
  SymValue unpack(const SymValue &packed, int64_t axis) {
    if (!packed.type.isInt() || packed.type.bits() != 8)
      return sema.error(Diag::operand_types, call.range, {describe(packed), "'e2m1'"});
    SymValue bytes = sema.cast(sema.bitcast(packed, Scalar::UInt8, call.range), Scalar::Int32, call.range);
    SymValue low = decodeNibble(op(BinaryOp::BitAnd, bytes, constant(15)));
    SymValue high = decodeNibble(op(BinaryOp::RShift, bytes, constant(4)));
    SymValue joined = callValues(call, "join", {low, high});
    if (joined.isError())
      return {};
    if (axis == 0)
      joined = sema.permute(joined, {0, 2, 1}, call.range);
    SmallVector<int64_t> shape(packed.shape());
    shape[axis] *= 2;
    return sema.reshape(joined, shape, call.range);
  }

  /// Decodes exponent bytes to fp32, which has the same bias; 0 is 2^-127, a subnormal number.
  SymValue decodeExponents(const SymValue &scale) {
    SymValue bytes = sema.cast(sema.bitcast(scale, Scalar::UInt8, call.range), Scalar::Int32, call.range);
    SymValue bits = op(BinaryOp::LShift, bytes, constant(23));
    bits = sema.select(sema.compare(CompareOp::Eq, bytes, constant(0), call.range), constant(0x00400000), bits,
                       call.range);
    bits = sema.select(sema.compare(CompareOp::Eq, bytes, constant(255), call.range), constant(0x7FC00000), bits,
                       call.range);
    return sema.bitcast(bits, Scalar::Float32, call.range);
  }

  /// Multiplies by the scales, whose shape is [rows or columns, K / group size] for either operand order.
  SymValue applyScale(const SymValue &value, size_t scaleIndex, int64_t axis) {
    SymValue scale = call.block(scaleIndex);
    if (scale.isError())
      return {};
    bool isFloat = scale.type.is(Scalar::Float8E4M3);
    int64_t groupSize = isFloat ? elementsPerFloatScale : elementsPerByteScale;
    SmallVector<int64_t> groups{value.shape()[1 - axis], value.shape()[axis] / groupSize};
    bool isByte = scale.type.isInt() && scale.type.bits() == 8;
    if (scale.shape() != ArrayRef<int64_t>(groups) || !(isFloat || isByte))
      return sema.error(Diag::scale_shape, call.rangeOf(scaleIndex),
                        {describe(scale), std::to_string(groups[0]),
                         std::to_string(value.shape()[axis] / elementsPerByteScale),
                         std::to_string(value.shape()[axis] / elementsPerFloatScale)});
    SymValue factor = isFloat ? sema.cast(scale, Scalar::Float32, call.range) : decodeExponents(scale);
    factor = sema.expandDims(factor, 2, call.range);
    factor = sema.broadcastTo(factor, {groups[0], groups[1], groupSize}, call.range);
    factor = sema.reshape(factor, {groups[0], groups[1] * groupSize}, call.range);
    if (axis == 0)
      factor = sema.permute(factor, {1, 0}, call.range);
    SymValue product = op(BinaryOp::Mult, sema.cast(value, Scalar::Float32, call.range), factor);
    return sema.cast(product, type, call.range);
  }

  BuiltinCall &call;
  Sema &sema;
  DType type;
};

} // namespace

SymValue emitDotScaled(Sema &sema, BuiltinCall &call) {
  std::optional<std::string> left = call.text(2), right = call.text(5);
  std::optional<bool> leftPack = call.flag(8), rightPack = call.flag(9);
  if (!left || !right || !leftPack || !rightPack)
    return {};
  DType type = *left == "fp16" || *right == "fp16" ? Scalar::Float16 : Scalar::BFloat16;
  ScaledOperand operand(call, type);
  SymValue a = operand.convert(0, 2, 1, /*axis=*/1, /*packed=*/*leftPack ? 1 : 0);
  SymValue b = operand.convert(3, 5, 4, /*axis=*/0, /*packed=*/*rightPack ? 0 : 1);
  if (a.isError() || b.isError())
    return {};
  SymValue result = callValues(call, "dot", {a, b, call[6]});
  std::optional<DType> wanted = call.dtype(10);
  return result.isError() || !wanted ? SymValue() : sema.cast(result, *wanted, call.range);
}

} // namespace tile::frontend
