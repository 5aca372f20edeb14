// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers with few values to floats; see SmallIntegers.h. Of a number whose last place counts ones, the lowest bits
// are an integer that is added to it, and a difference, which is exact, leaves that alone:
//
//   i32, -16 to 15 -> f16     two of them + 0x6410 in one word, less 1024 + 16 each
//   i32            -> f32     + 0x4b000010, less 2^23 + 16; bf16 is rounded from that
//   4 x i8         -> f16     xor 0x80808080, then two bytes beside 0x64 each, less 1024 + 128
//   4 x i8         -> f32     the same with one byte beside 0x4b0000
//   4 x si8        -> bf16    two bytes beside 0x43 each: seven bits, which are 128 more, less the sign: 128 or 256
#include "SmallIntegers.h"

#include "Analysis/AccessVector.h"
#include "EmitLayout.h"
#include "Patterns.h"
#include "Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Where the last place of a float counts ones: the number, its bits, and how many integers follow it.
struct Anchor {
  double number;
  uint32_t bits;
  int64_t places;
};

Anchor anchorOf(Type type) {
  return type.isF16() ? Anchor{1024, 0x6400, 1 << 10} : Anchor{8388608, 0x4b000000, 1 << 23};
}

/// The values that tensors can have, by their definitions; a kernel is looked at once.
class IntegerRanges {
public:
  ConstantIntRanges of(Value value) {
    auto [place, isNew] = ranges.try_emplace(value, ConstantIntRanges::maxRange(bitsOf(value)));
    if (!isNew)
      return place->second;
    ConstantIntRanges range = compute(value);
    ranges.insert_or_assign(value, range);
    return range;
  }

private:
  static unsigned bitsOf(Value value) { return getElementTypeOf(value.getType()).getIntOrFloatBitWidth(); }
  static bool isInteger(Value value) { return isa<IntegerType>(getElementTypeOf(value.getType())); }

  ConstantIntRanges compute(Value value) {
    ConstantIntRanges unknown = ConstantIntRanges::maxRange(bitsOf(value));
    Operation *op = value.getDefiningOp();
    if (!op)
      return unknown;
    if (auto load = dyn_cast<cta::LocalLoadOp>(op))
      return ofBuffer(load.getBuffer(), unknown);
    if (isa<ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, SplatOp>(op))
      return of(op->getOperand(0));
    auto interface = dyn_cast<InferIntRangeInterface>(op);
    if (!interface || !llvm::all_of(op->getOperands(), isInteger))
      return unknown;
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand));
    ConstantIntRanges range = unknown;
    interface.inferResultRanges(operands, [&](Value, const ConstantIntRanges &inferred) { range = inferred; });
    return range;
  }

  /// Of what tensors are stored there, if nothing else writes it.
  ConstantIntRanges ofBuffer(Value buffer, const ConstantIntRanges &unknown) {
    if (!buffer.getDefiningOp<cta::AllocOp>())
      return unknown;
    std::optional<ConstantIntRanges> range;
    for (Operation *user : buffer.getUsers()) {
      if (isa<cta::LocalLoadOp>(user))
        continue;
      auto store = dyn_cast<cta::LocalStoreOp>(user);
      if (!store)
        return unknown;
      range = range ? range->rangeUnion(of(store.getValue())) : of(store.getValue());
    }
    return range.value_or(unknown);
  }

  DenseMap<Value, ConstantIntRanges> ranges;
};

template <typename OpType> struct SmallIntegerLowering : OpConversionPattern<OpType> {
  SmallIntegerLowering(const TypeConverter &converter, MLIRContext *context, bool hasBF16)
      : OpConversionPattern<OpType>(converter, context, /*benefit=*/2), hasBF16(hasBF16) {}

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto range = op->template getAttrOfType<DenseI64ArrayAttr>(integerRange);
    if (!range)
      return failure();
    Type from = getElementTypeOf(op.getIn().getType()), to = getElementTypeOf(op.getType());
    // Bytes that came in one word stay in it.
    const int64_t together = std::min<int64_t>(getConsecutiveElements(cta::getLayout(op.getIn().getType())), 4);
    const bool hasWords = from.isInteger(8) && together > 1;
    // For what the anchor stands: of bytes the least number of the type.
    const int64_t low = !hasWords ? std::min<int64_t>(range[0], 0) : isSigned ? -128 : 0;
    Registers words = hasWords ? besideAnchors(adaptor.getIn(), to, together, rewriter)
                               : plusAnchors(adaptor.getIn(), to, low, rewriter);
    Registers numbers = hasWords && hasSigns(to) ? lessSigns(words, rewriter) : lessAnchors(words, to, low, rewriter);
    numbers.truncate(adaptor.getIn().size()); // of a word with one number
    rewriter.replaceOpWithMultiple(op, {numbers});
    return success();
  }

private:
  static constexpr bool isSigned = std::is_same_v<OpType, arith::SIToFPOp>;
  const bool hasBF16; ///< In arithmetic.

  /// Whether bytes in a word keep their signs until they are subtracted.
  bool hasSigns(Type to) const { return isSigned && hasBF16 && to.isBF16(); }

  static Value permute(Value low, Value high, uint32_t selector, Location loc, OpBuilder &builder) {
    return NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), low, high, emitI32(builder, loc, selector),
                                   NVVM::PermuteMode::DEFAULT);
  }

  /// Words of two halves, or of one number in fp32, from two or four bytes in a word.
  Registers besideAnchors(ValueRange bytes, Type to, int64_t together, OpBuilder &builder) const {
    Location loc = bytes.front().getLoc();
    const bool isPair = to.isF16() || hasSigns(to);
    const WordFormat format{unsigned(8 * together), unsigned(bytes.size() / together), unsigned(together)};
    Registers words;
    for (Value word : packWords(builder, loc, bytes, format)) {
      if (together < 4)
        word = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), word);
      if (isSigned && !hasSigns(to))
        word = arith::XOrIOp::create(builder, loc, word, emitI32(builder, loc, 0x80808080));
      Value anchor = emitI32(builder, loc, to.isF16() ? 0x64 : hasSigns(to) ? 0x43 : anchorOf(to).bits);
      for (uint32_t first = 0; first < together; first += isPair ? 2 : 1)
        words.push_back(permute(word, anchor, isPair ? 0x4140 + first * 0x0101 : 0x7650 + first, loc, builder));
    }
    return words;
  }

  /// Numbers in bf16, of bytes beside the anchor, each less its sign.
  static Registers lessSigns(ValueRange words, OpBuilder &builder) {
    Location loc = words.front().getLoc();
    auto pair = VectorType::get(2, builder.getBF16Type());
    auto masked = [&](Value word, uint32_t mask) -> Value {
      word = arith::AndIOp::create(builder, loc, word, emitI32(builder, loc, mask << 16 | mask));
      return LLVM::BitcastOp::create(builder, loc, pair, word);
    };
    Registers results;
    for (Value word : words) {
      Value both = arith::SubFOp::create(builder, loc, masked(word, 0xff7f), masked(word, 0xff80));
      for (size_t half : {0, 1})
        results.push_back(LLVM::ExtractElementOp::create(builder, loc, both, emitI32(builder, loc, half)));
    }
    return results;
  }

  static Registers plusAnchors(ValueRange integers, Type to, int64_t low, OpBuilder &builder) {
    Location loc = integers.front().getLoc();
    Registers words;
    for (Value integer : integers) {
      const unsigned bits = integer.getType().getIntOrFloatBitWidth();
      if (bits > 32)
        integer = arith::TruncIOp::create(builder, loc, builder.getI32Type(), integer);
      else if (bits < 32)
        integer = isSigned ? Value(arith::ExtSIOp::create(builder, loc, builder.getI32Type(), integer))
                           : Value(arith::ExtUIOp::create(builder, loc, builder.getI32Type(), integer));
      words.push_back(integer);
    }
    return to.isF16() ? pairPlusAnchors(words, low, builder) : llvm::map_to_vector(words, [&](Value word) -> Value {
      return arith::AddIOp::create(builder, loc, word, emitI32(builder, loc, anchorOf(to).bits - low));
    });
  }

  /// Two numbers a word. What is not negative gets both anchors at once, and the mask that made it small, too.
  static Registers pairPlusAnchors(ValueRange integers, int64_t least, OpBuilder &builder) {
    Location loc = integers.front().getLoc();
    const uint32_t anchor = anchorOf(builder.getF16Type()).bits;
    auto add = [&](Value value, uint32_t number) -> Value {
      return arith::AddIOp::create(builder, loc, value, emitI32(builder, loc, number));
    };
    Registers pairs;
    for (size_t index = 0; index < integers.size(); index += 2) {
      Value low = integers[index], high = integers[std::min(index + 1, integers.size() - 1)];
      if (least < 0) {
        pairs.push_back(permute(add(low, anchor - least), add(high, anchor - least), 0x5410, loc, builder));
        continue;
      }
      std::optional<uint32_t> mask = maskOf(low);
      mask = mask == maskOf(high) ? mask : std::nullopt;
      Value both =
          mask ? permute(low.getDefiningOp()->getOperand(0), high.getDefiningOp()->getOperand(0), 0x5410, loc, builder)
               : permute(low, high, 0x5410, loc, builder);
      if (mask)
        both = arith::AndIOp::create(builder, loc, both, emitI32(builder, loc, *mask << 16 | *mask));
      pairs.push_back(arith::OrIOp::create(builder, loc, both, emitI32(builder, loc, anchor << 16 | anchor)));
    }
    return pairs;
  }

  /// Of a number that was masked to at most 16 bits.
  static std::optional<uint32_t> maskOf(Value value) {
    auto masked = value.getDefiningOp<arith::AndIOp>();
    APInt mask;
    if (!masked || !matchPattern(masked.getRhs(), m_ConstantInt(&mask)) || mask.getActiveBits() > 16)
      return std::nullopt;
    return mask.getZExtValue();
  }

  /// The numbers that the words hold, each less the anchor.
  static Registers lessAnchors(ValueRange words, Type to, int64_t low, OpBuilder &builder) {
    Location loc = words.front().getLoc();
    const double anchor = anchorOf(to).number - double(low);
    Registers results;
    if (!to.isF16()) {
      Type f32 = builder.getF32Type();
      Value number = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(anchor)));
      for (Value word : words) {
        Value difference =
            arith::SubFOp::create(builder, loc, arith::BitcastOp::create(builder, loc, f32, word), number);
        results.push_back(to.isF32() ? difference : Value(arith::TruncFOp::create(builder, loc, to, difference)));
      }
      return results;
    }
    auto pair = VectorType::get(2, builder.getF16Type());
    auto number = DenseElementsAttr::get(pair, builder.getF16FloatAttr(float(anchor)).getValue());
    Value numbers = arith::ConstantOp::create(builder, loc, number);
    for (Value word : words) {
      Value both = arith::SubFOp::create(builder, loc, LLVM::BitcastOp::create(builder, loc, pair, word), numbers);
      for (size_t half : {0, 1})
        results.push_back(LLVM::ExtractElementOp::create(builder, loc, both, emitI32(builder, loc, half)));
    }
    return results;
  }
};

} // namespace

void noteSmallIntegers(KernelOp kernel) {
  IntegerRanges ranges;
  kernel.walk([&](Operation *op) {
    if (!isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      return;
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    Type to = result ? result.getElementType() : Type();
    if (!to || !(to.isF16() || to.isBF16() || to.isF32()) || getElementTypeOf(op->getOperand(0).getType()).isInteger(1))
      return;
    const bool isSigned = isa<arith::SIToFPOp>(op);
    ConstantIntRanges range = ranges.of(op->getOperand(0));
    const APInt &low = isSigned ? range.smin() : range.umin(), &high = isSigned ? range.smax() : range.umax();
    if (low.getSignificantBits() > 32 || high.getActiveBits() > 32)
      return;
    const int64_t least = isSigned ? low.getSExtValue() : 0,
                  most = isSigned ? high.getSExtValue() : high.getZExtValue();
    if (most - std::min<int64_t>(least, 0) < anchorOf(to).places)
      op->setAttr(integerRange, DenseI64ArrayAttr::get(op->getContext(), {least, most}));
  });
}

void registerSmallIntegerLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<SmallIntegerLowering<arith::SIToFPOp>, SmallIntegerLowering<arith::UIToFPOp>>(
      lowerings.converter, lowerings.context, lowerings.gpu.has(target::Feature::BF16Arithmetic));
}

} // namespace tile::conversion
