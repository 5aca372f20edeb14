// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 8-bit floats; see Float8.h. The hardware converts pairs, f8x2 <-> f16x2 and f32x2 -> f8x2 (PTX ISA, "cvt"), so
// registers are converted two at a time. On targets without these instructions, integer operations convert the bits:
// both 8-bit formats have the structure of f16 and f32, except for the widths of exponent and mantissa and the exponent
// bias. All other arithmetic on 8-bit floats is done in f32.
#include "Float8.h"

#include "EmitLayout.h"
#include "Patterns.h"
#include "RoundOnce.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::conversion {

static bool isFloat8(Type type) {
  Type element = getElementTypeOf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// Casts `value` to another float type of at least 16 bits.
static Value emitFloatCast(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to) // f16 and bf16
    return emitFloatCast(builder, loc, emitFloatCast(builder, loc, value, builder.getF32Type()), type);
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// Returns an f32 that rounds to the same 8-bit float as `value`.
static Value emitSingle(OpBuilder &builder, Location loc, Value value) {
  return value.getType().isF64() ? emitRoundedToOdd(builder, loc, value)
                                 : emitFloatCast(builder, loc, value, builder.getF32Type());
}

namespace {

/// Converts one value at a time, with integer operations on the bits.
class BitConversion {
public:
  BitConversion(OpBuilder &builder, Location loc, Type float8)
      : builder(builder), loc(loc), isE4M3(isa<Float8E4M3FNType>(float8)) {}

  /// Returns the f16 with the same value. An e5m2 value is the upper byte of an f16. An e4m3 value that is shifted to
  /// the same position has an exponent that is too small by 8; a multiplication by 2^8 corrects this, and is correct
  /// for subnormal values as well.
  Value toHalf(Value byte) {
    Type i16 = builder.getI16Type(), f16 = builder.getF16Type();
    Value wide = arith::ExtUIOp::create(builder, loc, i16, byte);
    if (!isE4M3)
      return arith::BitcastOp::create(builder, loc, f16, shift<arith::ShLIOp>(wide, 8));
    Value magnitude = mask(wide, 0x7f);
    Value small = arith::BitcastOp::create(builder, loc, f16, shift<arith::ShLIOp>(magnitude, 7));
    Value scale = arith::ConstantOp::create(builder, loc, builder.getF16FloatAttr(256.0f));
    Value bits = arith::BitcastOp::create(builder, loc, i16, arith::MulFOp::create(builder, loc, small, scale));
    Value isNan = compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
    bits = arith::SelectOp::create(builder, loc, isNan, number(i16, 0x7fff), bits);
    Value sign = shift<arith::ShLIOp>(mask(wide, 0x80), 8);
    return arith::BitcastOp::create(builder, loc, f16, arith::OrIOp::create(builder, loc, bits, sign));
  }

  /// Converts an f32 as cvt.rn.satfinite does: rounds to nearest even, and to the largest finite value beyond the
  /// range.
  Value fromFloat(Value value) {
    const unsigned mantissa = isE4M3 ? 3 : 2, bias = isE4M3 ? 7 : 15;
    const unsigned dropped = 23 - mantissa;
    Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
    Value bits = arith::BitcastOp::create(builder, loc, i32, value);
    Value magnitude = mask(bits, 0x7fffffff);
    // Normal values: adding half a unit in the last place (minus 1 if the last bit is even) rounds, because the sum
    // carries into the upper bits.
    Value odd = mask(shift<arith::ShRUIOp>(magnitude, dropped), 1);
    Value rounded = add(add(magnitude, odd), (1u << (dropped - 1)) - 1);
    Value normal = add(shift<arith::ShRUIOp>(rounded, dropped), -((127 - bias) << mantissa));
    // Subnormal values: adding a number whose last place has the same weight as the result's last place rounds the sum
    // to that place.
    const uint32_t anchor = (127 - bias + 1 - mantissa + 23) << 23;
    Value sum = arith::AddFOp::create(builder, loc, arith::BitcastOp::create(builder, loc, f32, magnitude),
                                      arith::BitcastOp::create(builder, loc, f32, number(i32, anchor)));
    Value subnormal = add(arith::BitcastOp::create(builder, loc, i32, sum), -anchor);
    Value isSmall = compare(arith::CmpIPredicate::ult, magnitude, (127 - bias + 1) << 23);
    Value code = arith::SelectOp::create(builder, loc, isSmall, subnormal, normal);
    code = arith::MinUIOp::create(builder, loc, code, number(i32, isE4M3 ? 0x7e : 0x7b));
    Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
    code = arith::SelectOp::create(builder, loc, isNan, number(i32, 0x7f), code);
    Value sign = mask(shift<arith::ShRUIOp>(bits, 24), 0x80);
    return arith::TruncIOp::create(builder, loc, builder.getI8Type(), arith::OrIOp::create(builder, loc, code, sign));
  }

private:
  Value number(Type type, uint32_t value) {
    APInt bits(32, value);
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, bits.trunc(type.getIntOrFloatBitWidth())));
  }
  template <typename ShiftOp> Value shift(Value value, uint32_t count) {
    return ShiftOp::create(builder, loc, value, number(value.getType(), count));
  }
  Value mask(Value value, uint32_t bits) {
    return arith::AndIOp::create(builder, loc, value, number(value.getType(), bits));
  }
  Value add(Value value, Value other) { return arith::AddIOp::create(builder, loc, value, other); }
  Value add(Value value, uint32_t other) { return add(value, number(value.getType(), other)); }
  Value compare(arith::CmpIPredicate predicate, Value value, uint32_t other) {
    return arith::CmpIOp::create(builder, loc, predicate, value, number(value.getType(), other));
  }

  OpBuilder &builder;
  Location loc;
  bool isE4M3;
};

} // namespace

SmallVector<Value> emitFromFloat8(OpBuilder &builder, Location loc, ValueRange bytes, Type float8, Type type,
                                  const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::FP8Conversion))
    return llvm::map_to_vector(bytes, [&](Value byte) {
      return emitFloatCast(builder, loc, BitConversion(builder, loc, float8).toHalf(byte), type);
    });
  auto pairType = VectorType::get(2, builder.getI8Type()), halfType = VectorType::get(2, builder.getF16Type());
  SmallVector<Value> results;
  for (size_t first = 0; first < bytes.size(); first += 2) {
    Value pair = LLVM::UndefOp::create(builder, loc, pairType);
    for (size_t index = 0; index < 2; ++index)
      pair = LLVM::InsertElementOp::create(builder, loc, pair, bytes[std::min(first + index, bytes.size() - 1)],
                                           emitI32(builder, loc, index));
    Value halves = NVVM::ConvertF8x2ToF16x2Op::create(builder, loc, halfType, pair, /*relu=*/false, float8);
    for (size_t index = 0; index < std::min<size_t>(2, bytes.size() - first); ++index) {
      Value half = LLVM::ExtractElementOp::create(builder, loc, halves, emitI32(builder, loc, index));
      results.push_back(emitFloatCast(builder, loc, half, type));
    }
  }
  return results;
}

SmallVector<Value> emitToFloat8(OpBuilder &builder, Location loc, ValueRange values, Type float8,
                                const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::FP8Conversion))
    return llvm::map_to_vector(values, [&](Value value) {
      return BitConversion(builder, loc, float8).fromFloat(emitSingle(builder, loc, value));
    });
  auto pairType = VectorType::get(2, builder.getI8Type());
  SmallVector<Value> results;
  for (size_t first = 0; first < values.size(); first += 2) {
    Value low = emitSingle(builder, loc, values[first]);
    bool isPair = first + 1 < values.size();
    Value high = isPair ? emitSingle(builder, loc, values[first + 1]) : low;
    // The first operand becomes the upper byte.
    Value pair = NVVM::ConvertF32x2ToF8x2Op::create(builder, loc, pairType, high, low, NVVM::FPRoundingMode::RN,
                                                    NVVM::SaturationMode::SATFINITE, /*relu=*/false, float8);
    results.push_back(LLVM::ExtractElementOp::create(builder, loc, pair, emitI32(builder, loc, 0)));
    if (isPair)
      results.push_back(LLVM::ExtractElementOp::create(builder, loc, pair, emitI32(builder, loc, 1)));
  }
  return results;
}

namespace {

/// Converts to 8-bit floats, rounding towards zero: rounds to nearest, then moves results whose magnitude exceeds that
/// of the operand one step towards zero.
SmallVector<Value> emitTowardsZero(OpBuilder &builder, Location loc, ValueRange values, Type float8,
                                   const target::GpuTarget &gpu) {
  SmallVector<Value> results = emitToFloat8(builder, loc, values, float8, gpu);
  Type type = values.front().getType().isF64() ? builder.getF64Type() : Type(builder.getF32Type());
  SmallVector<Value> rounded = emitFromFloat8(builder, loc, results, float8, type, gpu);
  for (auto [result, value, exact] : llvm::zip(results, rounded, values))
    result = emitStepTowardsZero(builder, loc, result, value, emitFloatCast(builder, loc, exact, type));
  return results;
}

/// Lowers arith.extf, arith.truncf and the casts of tile.rounded from, to and between 8-bit floats.
template <typename OpType> struct CastLowering : TargetPattern<OpType> {
  using TargetPattern<OpType>::TargetPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type from = getElementTypeOf(op->getOperand(0).getType()), to = getElementTypeOf(op.getType());
    if (!isFloat8(from) && !isFloat8(to))
      return failure();
    Registers values(adaptor.getOperands().front());
    if (isFloat8(from))
      values =
          emitFromFloat8(rewriter, op.getLoc(), values, from, isFloat8(to) ? rewriter.getF32Type() : to, this->gpu);
    if (isFloat8(to))
      values = roundsTowardsZero(op) ? emitTowardsZero(rewriter, op.getLoc(), values, to, this->gpu)
                                     : emitToFloat8(rewriter, op.getLoc(), values, to, this->gpu);
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

/// Computes any other elementwise operation on 8-bit floats in f32, except operations that only move bits, such as
/// inline PTX.
struct ArithmeticLowering : ConversionPattern {
  ArithmeticLowering(const TypeConverter &converter, MLIRContext *context, const target::GpuTarget &gpu)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/3, context), gpu(gpu) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    auto usesFloat8 = [](Type type) { return isFloat8(type); };
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
        isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp, RoundedOp, InlineAsmOp>(op) ||
        (llvm::none_of(op->getOperandTypes(), usesFloat8) && llvm::none_of(op->getResultTypes(), usesFloat8)))
      return failure();
    Location loc = op->getLoc();
    SmallVector<Registers> inputs;
    for (auto [operand, registers] : llvm::zip(op->getOperands(), operands)) {
      Type element = getElementTypeOf(operand.getType());
      inputs.push_back(isFloat8(element) ? emitFromFloat8(rewriter, loc, registers, element, rewriter.getF32Type(), gpu)
                                         : Registers(registers));
    }
    Type result = getElementTypeOf(op->getResult(0).getType());
    Registers results;
    size_t count = 1;
    for (const Registers &registers : inputs)
      count = std::max(count, registers.size());
    for (size_t index = 0; index < count; ++index) {
      OperationState state(loc, op->getName());
      for (const Registers &registers : inputs)
        state.operands.push_back(registers.size() == 1 ? registers.front() : registers[index]);
      state.addTypes(isFloat8(result) ? rewriter.getF32Type() : result);
      state.addAttributes(op->getAttrs());
      results.push_back(rewriter.create(state)->getResult(0));
    }
    if (isFloat8(result))
      results = emitToFloat8(rewriter, loc, results, result, gpu);
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

  const target::GpuTarget &gpu;
};

} // namespace

bool roundsTowardsZero(Operation *op) {
  if (auto rounded = dyn_cast<RoundedOp>(op))
    return rounded.getRounding() == Rounding::rz;
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  return truncate && truncate.getRoundingmode() == arith::RoundingMode::toward_zero;
}

Value emitStepTowardsZero(OpBuilder &builder, Location loc, Value nearest, Value rounded, Value exact) {
  Value isBeyond =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(builder, loc, rounded),
                            math::AbsFOp::create(builder, loc, exact));
  // Subtracting one from the bits steps towards zero for both signs, and from infinity to the largest finite value.
  Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(nearest.getType(), 1));
  Value before = arith::SubIOp::create(builder, loc, nearest, one);
  return arith::SelectOp::create(builder, loc, isBeyond, before, nearest);
}

void registerFloat8Lowerings(Lowerings &lowerings) {
  lowerings.patterns.add<CastLowering<arith::ExtFOp>, CastLowering<arith::TruncFOp>, CastLowering<RoundedOp>>(
      lowerings.converter, lowerings.context, lowerings.gpu, /*benefit=*/3);
  lowerings.patterns.add<ArithmeticLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
}

} // namespace tile::conversion
