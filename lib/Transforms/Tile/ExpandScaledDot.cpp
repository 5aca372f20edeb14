// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements ExpandScaledDot.h.
#include "Transforms/Tile/ExpandScaledDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace tile {
namespace {

/// Emits elementwise arithmetic at one location.
class ElementEmitter {
public:
  ElementEmitter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename Op, typename... Args> Value emit(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  Type withElement(Value value, Type element) { return withElementType(value.getType(), element); }

  Value integer(Value like, int64_t value) {
    Type element = getElementTypeOrSelf(like.getType());
    return splat(like, arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(element, value)));
  }
  Value real(Value like, double value) {
    Type element = getElementTypeOrSelf(like.getType());
    return splat(like, arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, value)));
  }
  /// Zero-extends or truncates integers.
  Value toWidth(Value value, unsigned width) {
    Type type = withElement(value, builder.getIntegerType(width));
    if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < width)
      return emit<arith::ExtUIOp>(type, value);
    return emit<arith::TruncIOp>(type, value);
  }
  Value bitcast(Value value, Type element) {
    Type type = withElement(value, element);
    return type == value.getType() ? value : emit<arith::BitcastOp>(type, value);
  }
  /// Converts floats, through f32 unless one of the types is f32.
  Value toFloat(Value value, Type element) {
    Type from = getElementTypeOrSelf(value.getType());
    if (from == element)
      return value;
    if (!from.isF32())
      value = emit<arith::ExtFOp>(withElement(value, builder.getF32Type()), value);
    return element.isF32() ? value : emit<arith::TruncFOp>(withElement(value, element), value);
  }
  Value expand(Value value, int32_t axis) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape.insert(shape.begin() + axis, 1);
    return emit<ExpandDimsOp>(typeOf(value).clone(shape), value, axis);
  }
  Value broadcast(Value value, ArrayRef<int64_t> shape) { return emit<BroadcastOp>(typeOf(value).clone(shape), value); }
  Value reshape(Value value, ArrayRef<int64_t> shape) { return emit<ReshapeOp>(typeOf(value).clone(shape), value); }
  Value permute(Value value, ArrayRef<int32_t> order) {
    SmallVector<int64_t> shape;
    for (int32_t dim : order)
      shape.push_back(typeOf(value).getDimSize(dim));
    return emit<TransOp>(typeOf(value).clone(shape), value, builder.getDenseI32ArrayAttr(order));
  }

  /// Appends a dimension of size 2, with the elements of `low` at index 0 and those of `high` at index 1.
  Value join(Value low, Value high) {
    SmallVector<int64_t> shape(typeOf(low).getShape());
    shape.push_back(2);
    auto repeated = [&](Value value) { return broadcast(expand(value, int32_t(shape.size() - 1)), shape); };
    Value first = repeated(low), second = repeated(high);
    Value index = emit<ArangeOp>(RankedTensorType::get({2}, builder.getI32Type()), 0, 2);
    while (typeOf(index).getRank() < int64_t(shape.size()))
      index = expand(index, int32_t(typeOf(index).getRank() - 1));
    index = broadcast(index, shape);
    Value isLow = emit<arith::CmpIOp>(arith::CmpIPredicate::eq, index, integer(index, 0));
    return emit<arith::SelectOp>(isLow, first, second);
  }

private:
  Value splat(Value like, Value scalar) { return emit<SplatOp>(withElement(like, scalar.getType()), scalar); }

  OpBuilder &builder;
  Location loc;
};

/// Moves the low nibble of each byte to bit `shift` of a 32-bit word, and the high nibble to bit `shift + 16`, and
/// applies the mask. The multiplication makes two copies of the byte, which do not overlap.
Value moveNibbles(ElementEmitter &emitter, Value bytes, int64_t shift, int64_t mask) {
  Value copies = emitter.emit<arith::MulIOp>(bytes, emitter.integer(bytes, (1ll << shift) + (1ll << (shift + 12))));
  return emitter.emit<arith::AndIOp>(copies, emitter.integer(copies, mask));
}

/// Converts exponent bytes to bf16, which has the same bias. Byte 0 means 2^-127, a subnormal number, and byte 255 NaN.
Value decodeExponents(ElementEmitter &emitter, Value scale) {
  constexpr int64_t mantissaBits = 7, minPower = 0x0040, quietNan = 0x7FC0, nanByte = 255;
  MLIRContext *context = scale.getContext();
  Value bytes = emitter.toWidth(scale, 32);
  Value bits = emitter.emit<arith::ShLIOp>(bytes, emitter.integer(bytes, mantissaBits));
  auto replace = [&](int64_t byte, int64_t pattern) {
    Value is = emitter.emit<arith::CmpIOp>(arith::CmpIPredicate::eq, bytes, emitter.integer(bytes, byte));
    bits = emitter.emit<arith::SelectOp>(is, emitter.integer(bits, pattern), bits);
  };
  replace(0, minPower);
  replace(nanByte, quietNan);
  return emitter.bitcast(emitter.toWidth(bits, 16), BFloat16Type::get(context));
}

/// An operand of a scaled dot; k runs along `kAxis`.
struct ScaledOperand {
  Value value, scale;
  ScaledFormat format;
  unsigned kAxis, packedAxis;
};

/// Multiplies `value` by the operand's scales, whose shape is [rows or columns, groups] for both operands.
Value applyScale(ElementEmitter &emitter, Value value, const ScaledOperand &operand, FloatType type) {
  MLIRContext *context = value.getContext();
  ArrayRef<int64_t> groups = emitter.typeOf(operand.scale).getShape();
  int64_t lines = groups[0], size = emitter.typeOf(value).getDimSize(operand.kAxis) / groups[1];
  // Scales are exact in bf16, so a multiplication in bf16 rounds only once, like a multiplication in f32. Scales may
  // exceed the range of f16, so f16 elements are multiplied in f32.
  FloatType wide = type;
  if (!type.isBF16())
    wide = Float32Type::get(context);
  bool isByte = emitter.typeOf(operand.scale).getElementType().isInteger();
  Value factor = isByte ? decodeExponents(emitter, operand.scale) : operand.scale;
  factor = emitter.toFloat(factor, wide);
  factor = emitter.broadcast(emitter.expand(factor, 2), {lines, groups[1], size});
  factor = emitter.reshape(factor, {lines, groups[1] * size});
  if (operand.kAxis == 0)
    factor = emitter.permute(factor, {1, 0});
  Value product = emitter.emit<arith::MulFOp>(emitter.toFloat(value, wide), factor);
  return emitter.toFloat(product, type);
}

/// Returns the element type of a format whose elements are not packed.
Type elementTypeOf(ScaledFormat format, MLIRContext *context) {
  switch (format) {
  case ScaledFormat::e4m3:
    return Float8E4M3FNType::get(context);
  case ScaledFormat::e5m2:
    return Float8E5M2Type::get(context);
  case ScaledFormat::bf16:
    return BFloat16Type::get(context);
  case ScaledFormat::fp16:
    return Float16Type::get(context);
  case ScaledFormat::e2m1:
    break;
  }
  llvm_unreachable("e2m1 is packed");
}

Value convert(OpBuilder &builder, Location loc, const ScaledOperand &operand, FloatType type) {
  ElementEmitter emitter(builder, loc);
  Value value;
  if (operand.format == ScaledFormat::e2m1)
    value = unpackE2M1(builder, loc, operand.value, operand.packedAxis, type);
  else
    value = emitter.toFloat(emitter.bitcast(operand.value, elementTypeOf(operand.format, builder.getContext())), type);
  return operand.scale ? applyScale(emitter, value, operand, type) : value;
}

} // namespace

/// Moves the bits of a 4-bit float (sign, 2-bit exponent with bias 1, 1-bit mantissa) to the corresponding positions of
/// a 16-bit float. The exponent is then too small by the difference of the biases, and one multiplication corrects it,
/// even for subnormal numbers. The two elements of a byte are moved together, as a word of two 16-bit floats.
Value unpackE2M1(OpBuilder &builder, Location loc, Value packed, unsigned axis, FloatType element) {
  ElementEmitter emitter(builder, loc);
  const int64_t mantissaBits = element.isBF16() ? 7 : 10, bias = element.isBF16() ? 127 : 15;
  // Bits 0 to 2 of each nibble go below the exponent's third bit; bit 3 becomes the sign.
  const int64_t shift = mantissaBits - 1, halves = 0x00010001, signShift = 12;
  Value bytes = emitter.toWidth(packed, 32);
  Value word = emitter.emit<arith::OrIOp>(moveNibbles(emitter, bytes, shift, (7 << shift) * halves),
                                          moveNibbles(emitter, bytes, signShift, int32_t(0x80008000)));
  auto halfOf = [&](Value words) {
    Value half = emitter.bitcast(emitter.toWidth(words, 16), element);
    return emitter.emit<arith::MulFOp>(half, emitter.real(half, std::ldexp(1.0, int(bias - 1))));
  };
  Value low = halfOf(word), high = halfOf(emitter.emit<arith::ShRUIOp>(word, emitter.integer(word, 16)));
  Value joined = emitter.join(low, high);
  if (axis == 0)
    joined = emitter.permute(joined, {0, 2, 1});
  SmallVector<int64_t> shape(emitter.typeOf(packed).getShape());
  shape[axis] *= 2;
  return emitter.reshape(joined, shape);
}

Value expandScaledDot(OpBuilder &builder, DotScaledOp dot) {
  Location loc = dot.getLoc();
  FloatType type = BFloat16Type::get(dot.getContext());
  if (dot.getAFormat() == ScaledFormat::fp16 || dot.getBFormat() == ScaledFormat::fp16)
    type = Float16Type::get(dot.getContext());
  Value a = convert(builder, loc, {dot.getA(), dot.getAScale(), dot.getAFormat(), 1, dot.getPackedAxisOfA()}, type);
  Value b = convert(builder, loc, {dot.getB(), dot.getBScale(), dot.getBFormat(), 0, dot.getPackedAxisOfB()}, type);
  return DotOp::create(builder, loc, a, b, dot.getAcc(), InputPrecision::tf32, /*maxNumImpreciseAcc=*/0, Engine());
}

} // namespace tile
