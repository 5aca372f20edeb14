// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin: tl.dot_scaled, a dot of operands in microscaling formats (OCP, "Microscaling Formats (MX)").
//
// Groups of 32 elements along K share a scale 2^(s - 127), which is given as the byte s. In NVFP4, groups of 16
// elements share a scale of type e4m3.

#include "Frontend/Emit/Builtins.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr int64_t elementsPerByteScale = 32, elementsPerFloatScale = 16;

/// Reads an operand with its format and its scales. `kAxis` is the axis of K. Each byte has two e2m1 elements that are
/// adjacent along `packedAxis`.
class ScaledOperand {
public:
  ScaledOperand(BuiltinCall &call, size_t index, int64_t kAxis, bool isPackedAlongK)
      : call(call), index(index), kAxis(kAxis), packedAxis(isPackedAlongK ? kAxis : 1 - kAxis) {}

  /// Returns false after an error.
  bool read() {
    value = call.block(index);
    std::optional<std::string> text = call.text(formatIndex());
    if (value.isError() || !text)
      return false;
    if (value.shape().size() != 2)
      return fail(Diag::dot_rank, index, {describe(value)});
    std::optional<ScaledFormat> known = symbolizeScaledFormat(*text);
    if (!known)
      return fail(Diag::unknown_option, formatIndex(), {"format", *text, "'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16'"});
    format = *known;
    return checkType(*text) && readScale();
  }

  /// Returns the number of elements along an axis.
  int64_t sizeOf(int64_t axis) const {
    return value.shape()[axis] * (format == ScaledFormat::e2m1 && axis == packedAxis ? 2 : 1);
  }

  SymValue value, scale; ///< `scale` is empty if the operand has no scales
  ScaledFormat format = ScaledFormat::e2m1;

private:
  size_t scaleIndex() const { return index + 1; }
  size_t formatIndex() const { return index + 2; }
  bool fail(Diag diagnostic, size_t argument, std::vector<std::string> values) {
    call.sema.error(diagnostic, call.rangeOf(argument), std::move(values));
    return false;
  }

  bool checkType(const std::string &text) {
    switch (format) {
    case ScaledFormat::e2m1:
      if (value.type.isInt() && value.type.bits() == 8)
        return true;
      break;
    case ScaledFormat::e4m3:
    case ScaledFormat::e5m2:
      if (value.type.bits() != 8)
        break;
      value =
          call.sema.bitcast(value, format == ScaledFormat::e4m3 ? Scalar::Float8E4M3 : Scalar::Float8E5M2, call.range);
      return true;
    case ScaledFormat::bf16:
    case ScaledFormat::fp16:
      if (value.type.bits() != 16)
        break;
      value = call.sema.bitcast(value, format == ScaledFormat::bf16 ? Scalar::BFloat16 : Scalar::Float16, call.range);
      return true;
    }
    return fail(Diag::operand_types, index, {describe(value), "'" + text + "'"});
  }

  /// Reads and checks the scales, whose shape is [rows or columns, K / group size] for both operands.
  bool readScale() {
    if (call.isNone(scaleIndex()))
      return true;
    scale = call.block(scaleIndex());
    if (scale.isError())
      return false;
    bool isFloat = scale.type.is(Scalar::Float8E4M3), isByte = scale.type.isInt() && scale.type.bits() == 8;
    int64_t lines = sizeOf(1 - kAxis), depth = sizeOf(kAxis);
    int64_t groups = depth / (isFloat ? elementsPerFloatScale : elementsPerByteScale);
    if (scale.shape() == ArrayRef<int64_t>({lines, groups}) && (isFloat || isByte))
      return true;
    return fail(Diag::scale_shape, scaleIndex(),
                {describe(scale), std::to_string(lines), std::to_string(depth / elementsPerByteScale),
                 std::to_string(depth / elementsPerFloatScale)});
  }

  BuiltinCall &call;
  size_t index;
  int64_t kAxis, packedAxis;
};

} // namespace

/// Returns the accumulator in fp32, or zeros if the call has no accumulator.
static SymValue readAccumulator(BuiltinCall &call, ArrayRef<int64_t> shape) {
  SymValue acc = call[6];
  if (acc.isError())
    return {};
  if (acc.isNoneValue())
    return call.sema.makeSplat(Value(Int128(0)), Scalar::Float32, shape, call.range);
  if (acc.isBlock() && acc.shape() == shape && (acc.type.is(Scalar::Float32) || acc.type.is(Scalar::Float16)))
    return call.sema.cast(acc, Scalar::Float32, call.range);
  return call.sema.error(Diag::dot_accumulator, call.rangeOf(6),
                         {describe(acc), "fp32", std::to_string(shape[0]), std::to_string(shape[1])});
}

SymValue emitDotScaled(Emitter &sema, BuiltinCall &call) {
  std::optional<bool> leftPack = call.flag(8), rightPack = call.flag(9);
  if (!leftPack || !rightPack)
    return {};
  ScaledOperand a(call, 0, /*kAxis=*/1, *leftPack), b(call, 3, /*kAxis=*/0, *rightPack);
  if (!a.read() || !b.read())
    return {};
  if (a.sizeOf(1) != b.sizeOf(0))
    return sema.error(Diag::dot_inner, call.range,
                      {describe(a.value), describe(b.value), std::to_string(a.sizeOf(1)), std::to_string(b.sizeOf(0))});
  constexpr int64_t leastDepth = 16;
  if (a.sizeOf(1) < leastDepth)
    return sema.error(Diag::dot_small, call.range,
                      {std::to_string(a.sizeOf(1)), std::to_string(leastDepth), toString(a.value.type)});
  SymValue acc = readAccumulator(call, {a.sizeOf(0), b.sizeOf(1)});
  std::optional<DType> wanted = call.dtype(10);
  if (acc.isError() || !wanted)
    return {};
  auto scaleOf = [](const ScaledOperand &operand) {
    return operand.scale.isBlock() ? operand.scale.value : mlir::Value();
  };
  mlir::Value result = DotScaledOp::create(sema.builder, sema.location(call.range), acc.value.getType(), a.value.value,
                                           b.value.value, acc.value, scaleOf(a), scaleOf(b), a.format, b.format,
                                           /*aPackedByRow=*/!*leftPack, /*bPackedByColumn=*/!*rightPack);
  return sema.cast(SymValue::makeTensor(result, Scalar::Float32), *wanted, call.range);
}

} // namespace tile::frontend
