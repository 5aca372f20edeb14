// 8-bit floats; see Float8.h. The hardware converts pairs, f8x2 <-> f16x2 and f32x2 -> f8x2 (PTX ISA, "cvt"), so
// registers are converted two at a time. Any other arithmetic on 8-bit floats is done in f32.
#include "Float8.h"

#include "EmitLayout.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::conversion {

static bool isFloat8(Type type) {
  Type element = getElementTypeOf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// `value` as another float type of 16 bits or more.
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

SmallVector<Value> emitFromFloat8(OpBuilder &builder, Location loc, ValueRange bytes, Type float8, Type type) {
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

SmallVector<Value> emitToFloat8(OpBuilder &builder, Location loc, ValueRange values, Type float8) {
  auto pairType = VectorType::get(2, builder.getI8Type());
  SmallVector<Value> results;
  for (size_t first = 0; first < values.size(); first += 2) {
    Value low = emitFloatCast(builder, loc, values[first], builder.getF32Type());
    bool isPair = first + 1 < values.size();
    Value high = isPair ? emitFloatCast(builder, loc, values[first + 1], builder.getF32Type()) : low;
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

/// arith.extf and arith.truncf to and from 8-bit floats; also from one 8-bit format to the other.
template <typename OpType> struct CastLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type from = getElementTypeOf(op.getIn().getType()), to = getElementTypeOf(op.getType());
    if (!isFloat8(from) && !isFloat8(to))
      return failure();
    Registers values(adaptor.getIn());
    if (isFloat8(from))
      values = emitFromFloat8(rewriter, op.getLoc(), values, from, isFloat8(to) ? rewriter.getF32Type() : to);
    if (isFloat8(to))
      values = emitToFloat8(rewriter, op.getLoc(), values, to);
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

/// Any other elementwise operation with 8-bit floats, except those that only move bits.
struct ArithmeticLowering : ConversionPattern {
  ArithmeticLowering(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/3, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    auto usesFloat8 = [](Type type) { return isFloat8(type); };
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
        isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op) ||
        (llvm::none_of(op->getOperandTypes(), usesFloat8) && llvm::none_of(op->getResultTypes(), usesFloat8)))
      return failure();
    Location loc = op->getLoc();
    SmallVector<Registers> inputs;
    for (auto [operand, registers] : llvm::zip(op->getOperands(), operands)) {
      Type element = getElementTypeOf(operand.getType());
      inputs.push_back(isFloat8(element) ? emitFromFloat8(rewriter, loc, registers, element, rewriter.getF32Type())
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
      results = emitToFloat8(rewriter, loc, results, result);
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

} // namespace

void populateFloat8Patterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CastLowering<arith::ExtFOp>, CastLowering<arith::TruncFOp>>(converter, patterns.getContext(),
                                                                           /*benefit=*/3);
  patterns.add<ArithmeticLowering>(converter, patterns.getContext());
}

} // namespace tile::conversion
