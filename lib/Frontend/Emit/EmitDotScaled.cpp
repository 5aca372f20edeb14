// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin: tl.dot_scaled, a dot of operands in microscaling formats (OCP, "Microscaling Formats (MX)").
//
// Every 32 elements along K share a scale 2^(s - 127), given as the byte s; or every 16 elements share a scale of type
// e4m3 (NVFP4). No supported target multiplies them directly, so both operands are converted to bf16 (fp16 if one of
// them is), which represents all values exactly, and scaled.

#include "Frontend/Emit/Builtins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

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

  /// Unpacks two elements per byte, adjacent along the axis, the first in the low half. A 4-bit float (sign, 2-bit
  /// exponent with bias 1, 1-bit mantissa) whose bits stand at the same positions of a 16-bit float has an exponent
  /// that is too small by the difference of the biases, and so has a subnormal one: a multiplication corrects both. The
  /// two elements of a byte are moved together, as a word of two 16-bit floats.
  SymValue unpack(const SymValue &packed, int64_t axis) {
    if (!packed.type.isInt() || packed.type.bits() != 8)
      return sema.error(Diag::operand_types, call.range, {describe(packed), "'e2m1'"});
    const bool isBf16 = type.is(Scalar::BFloat16);
    const int64_t mantissaBits = isBf16 ? 7 : 10, bias = isBf16 ? 127 : 15;
    // Bits 0 to 2 of each nibble go below the exponent's third bit, bit 3 becomes the sign.
    const int64_t shift = mantissaBits - 1, halves = 0x00010001;
    SymValue bytes = sema.cast(sema.bitcast(packed, Scalar::UInt8, call.range), Scalar::UInt32, call.range);
    SymValue word =
        op(BinaryOp::BitOr, moveNibbles(bytes, shift, (7 << shift) * halves), moveNibbles(bytes, 12, 0x8000 * halves));
    SymValue scale = SymValue::makeConstant(std::ldexp(1.0, bias - 1));
    SymValue low = op(BinaryOp::Mult, halfOf(word), scale);
    SymValue high = op(BinaryOp::Mult, halfOf(op(BinaryOp::RShift, word, constant(16))), scale);
    SymValue joined = callValues(call, "join", {low, high});
    if (joined.isError())
      return {};
    if (axis == 0)
      joined = sema.permute(joined, {0, 2, 1}, call.range);
    SmallVector<int64_t> shape(packed.shape());
    shape[axis] *= 2;
    return sema.reshape(joined, shape, call.range);
  }

  /// Shifts the low nibble of each byte to the left within the low half of a word, and the high nibble by as much
  /// within the high half; only the bits of the mask remain. The two copies of the byte do not overlap.
  SymValue moveNibbles(const SymValue &bytes, int64_t shift, int64_t mask) {
    SymValue copies = op(BinaryOp::Mult, bytes, constant((1ll << shift) + (1ll << (shift + 12))));
    return op(BinaryOp::BitAnd, copies, constant(mask));
  }

  /// Returns the low half of words as floats.
  SymValue halfOf(const SymValue &words) {
    return sema.bitcast(sema.cast(words, Scalar::UInt16, call.range), type, call.range);
  }

  /// Decodes exponent bytes to bf16, which has the same bias; 0 is 2^-127, a subnormal number.
  SymValue decodeExponents(const SymValue &scale) {
    SymValue bytes = sema.cast(sema.bitcast(scale, Scalar::UInt8, call.range), Scalar::Int32, call.range);
    SymValue bits = op(BinaryOp::LShift, bytes, constant(7));
    bits = sema.select(sema.compare(CompareOp::Eq, bytes, constant(0), call.range), constant(0x0040), bits, call.range);
    bits =
        sema.select(sema.compare(CompareOp::Eq, bytes, constant(255), call.range), constant(0x7FC0), bits, call.range);
    return sema.bitcast(sema.cast(bits, Scalar::Int16, call.range), Scalar::BFloat16, call.range);
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
    // Scales are exact in bf16. A product with a bf16 is rounded once, as fp32 would be; for fp16, whose range is
    // smaller than that of scales, fp32 is needed.
    DType wide = type.is(Scalar::BFloat16) ? Scalar::BFloat16 : Scalar::Float32;
    SymValue factor = isFloat ? sema.cast(scale, Scalar::Float32, call.range) : decodeExponents(scale);
    factor = sema.cast(factor, wide, call.range);
    factor = sema.expandDims(factor, 2, call.range);
    factor = sema.broadcastTo(factor, {groups[0], groups[1], groupSize}, call.range);
    factor = sema.reshape(factor, {groups[0], groups[1] * groupSize}, call.range);
    if (axis == 0)
      factor = sema.permute(factor, {1, 0}, call.range);
    SymValue product = op(BinaryOp::Mult, sema.cast(value, wide, call.range), factor);
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
