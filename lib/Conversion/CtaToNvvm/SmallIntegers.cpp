// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts integers with a small range to floats; see SmallIntegers.h. If the last place of a float has the value 1,
// adding a small integer to the float's bits adds the same integer to its value; an exact subtraction of the original
// float then leaves the converted integer:
//
//   i32, -16 to 15 -> f16     two of them + 0x6410 in one word, minus 1024 + 16 each
//   i32, 0 to 127  -> bf16    the same with 0x4300 and 128
//   i32            -> f32     + 0x4b000010, minus 2^23 + 16; bf16 is rounded from that
//   4 x i8         -> f16     xor 0x80808080, then two bytes below 0x64 each, minus 1024 + 128
//   4 x i8         -> f32     the same with one byte below 0x4b0000
//   4 x si8        -> bf16    two bytes below 0x43 each: seven bits, 128 too large, minus the sign: 128 or 256
//
// For weights minus their zero points, f16(q) - f16(z), the anchor is added to z and subtracted together with it: once
// per group, not once per weight.
#include "SmallIntegers.h"

#include "Analysis/Addresses/AccessVector.h"
#include "EmitLayout.h"
#include "Patterns.h"
#include "Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::conversion {

Anchor anchorOf(Type type, int64_t span, bool hasBF16) {
  constexpr Anchor f16{1024, 0x6400, 1 << 10}, bf16{128, 0x4300, 1 << 7}, f32{8388608, 0x4b000000, 1 << 23};
  const bool isSelected = span <= 1; // two possible values: LLVM turns the conversion into a select
  return type.isF16() ? f16 : type.isBF16() && hasBF16 && !isSelected && span < bf16.integers ? bf16 : f32;
}

namespace {

/// Returns the lowest `bits` bits of an integer if they are the same in all threads, such as those of k % 8 if each
/// thread holds whole groups of eight.
std::optional<uint64_t> findLowBits(Value value, unsigned bits) {
  APInt constant;
  const uint64_t wanted = llvm::maskTrailingOnes<uint64_t>(bits);
  if (bits == 0)
    return 0;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getZExtValue() & wanted;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  const bool isConstant = matchPattern(op->getOperand(1), m_ConstantInt(&constant));
  auto both = [&](auto combine) -> std::optional<uint64_t> {
    std::optional<uint64_t> lhs = findLowBits(op->getOperand(0), bits),
                            rhs = lhs ? findLowBits(op->getOperand(1), bits) : std::nullopt;
    return rhs ? std::optional(combine(*lhs, *rhs) & wanted) : std::nullopt;
  };
  /// Returns the low bits of the left operand times `factor`, which has `zeros` trailing zero bits.
  auto scaled = [&](unsigned zeros, uint64_t factor) -> std::optional<uint64_t> {
    std::optional<uint64_t> lhs = findLowBits(op->getOperand(0), bits - std::min(bits, zeros));
    return lhs ? std::optional(*lhs * factor & wanted) : std::nullopt;
  };
  if (isa<arith::MulIOp>(op) && isConstant)
    return scaled(constant.countr_zero(), constant.getZExtValue());
  if (isa<arith::ShLIOp>(op) && isConstant && constant.ult(64))
    return scaled(constant.getZExtValue(), uint64_t(1) << constant.getZExtValue());
  if (isa<arith::AndIOp>(op) && isConstant) {
    std::optional<uint64_t> lhs = findLowBits(op->getOperand(0), std::min(bits, constant.getActiveBits()));
    return lhs ? std::optional(*lhs & constant.getZExtValue()) : std::nullopt;
  }
  // A remainder has the same low bits as the dividend, even if the dividend is negative.
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && isConstant && constant.isPowerOf2() && bits <= constant.logBase2())
    return findLowBits(op->getOperand(0), bits);
  if (isa<arith::AddIOp>(op))
    return both(std::plus<uint64_t>());
  if (isa<arith::XOrIOp>(op))
    return both(std::bit_xor<uint64_t>());
  if (isa<arith::OrIOp>(op))
    return both(std::bit_or<uint64_t>());
  return std::nullopt;
}

template <typename OpType> struct SmallIntegerLowering : OpConversionPattern<OpType> {
  SmallIntegerLowering(const TypeConverter &converter, MLIRContext *context, bool hasBF16)
      : OpConversionPattern<OpType>(converter, context, /*benefit=*/2), hasBF16(hasBF16) {}

  LogicalResult matchAndRewrite(OpType op, typename OpConversionPattern<OpType>::OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto range = op->template getAttrOfType<DenseI64ArrayAttr>(integerRange);
    if (!range)
      return failure();
    Type from = getElementTypeOf(op.getIn().getType()), to = getElementTypeOf(op.getType());
    // Bytes that were loaded in one word are converted in that word.
    const int64_t together = std::min<int64_t>(getConsecutiveElements(cta::getLayout(op.getIn().getType())), 4);
    const bool hasWords = from.isInteger(8) && together > 1;
    // The integer that is represented by the anchor's own bits: for bytes, the smallest value of the type.
    const int64_t low = !hasWords ? std::min<int64_t>(range[0], 0) : isSigned ? -128 : 0;
    const Anchor anchor = anchorOf(to, hasWords ? UINT8_MAX : range[1] - low, hasBF16);
    Registers words = hasWords ? packNextToAnchors(adaptor.getIn(), to, anchor, together, rewriter)
                               : addAnchors(adaptor.getIn(), anchor, low, rewriter);
    const double number = op->hasAttr(keepsAnchor) ? 0 : anchor.number - double(low);
    Registers converted =
        hasWords && hasSigns(to) ? subtractSigns(words, rewriter) : less(number, words, to, anchor.isHalf(), rewriter);
    converted.truncate(adaptor.getIn().size()); // the last word may hold a single value
    rewriter.replaceOpWithMultiple(op, {converted});
    return success();
  }

private:
  static constexpr bool isSigned = std::is_same_v<OpType, arith::SIToFPOp>;
  const bool hasBF16; ///< The target has bf16 arithmetic.

  /// Returns true if the bytes keep their signs when they are put into words; the signs are subtracted later.
  bool hasSigns(Type to) const { return isSigned && hasBF16 && to.isBF16(); }

  static Value permute(Value low, Value high, uint32_t selector, Location loc, OpBuilder &builder) {
    return NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), low, high, emitI32(builder, loc, selector),
                                   NVVM::PermuteMode::DEFAULT);
  }

  /// Puts bytes next to the anchor's upper bits. From each word of two or four bytes, returns words of two 16-bit
  /// floats or of one f32.
  Registers packNextToAnchors(ValueRange bytes, Type to, const Anchor &anchor, int64_t together,
                              OpBuilder &builder) const {
    Location loc = bytes.front().getLoc();
    const bool isPair = to.isF16() || hasSigns(to);
    const WordFormat format{unsigned(8 * together), unsigned(bytes.size() / together), unsigned(together)};
    Registers words;
    for (Value word : packWords(builder, loc, bytes, format)) {
      if (together < 4)
        word = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), word);
      if (isSigned && !hasSigns(to))
        word = arith::XOrIOp::create(builder, loc, word, emitI32(builder, loc, 0x80808080));
      Value highBytes = emitI32(builder, loc, to.isF16() ? 0x64 : hasSigns(to) ? 0x43 : anchor.bits);
      for (uint32_t first = 0; first < together; first += isPair ? 2 : 1)
        words.push_back(permute(word, highBytes, isPair ? 0x4140 + first * 0x0101 : 0x7650 + first, loc, builder));
    }
    return words;
  }

  /// Returns bf16 values. The words hold bytes next to the anchor's upper bits; the sign part of each byte is
  /// subtracted.
  static Registers subtractSigns(ValueRange words, OpBuilder &builder) {
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

  static Registers addAnchors(ValueRange integers, const Anchor &anchor, int64_t low, OpBuilder &builder) {
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
    return anchor.isHalf()
               ? addAnchorsToPairs(words, anchor.bits, low, builder)
               : llvm::map_to_vector(words, [&](Value word) -> Value {
                   return arith::AddIOp::create(builder, loc, word, emitI32(builder, loc, anchor.bits - low));
                 });
  }

  /// Packs two values into each word. For non-negative values, one instruction adds the anchors to both values; if both
  /// values were masked, one instruction also masks both.
  static Registers addAnchorsToPairs(ValueRange integers, uint32_t anchor, int64_t least, OpBuilder &builder) {
    Location loc = integers.front().getLoc();
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
      Value both;
      if (mask) {
        both = packFields(fieldOf(low, *mask), fieldOf(high, *mask), loc, builder);
        both = arith::AndIOp::create(builder, loc, both, emitI32(builder, loc, *mask << 16 | *mask));
      } else {
        both = permute(low, high, 0x5410, loc, builder);
      }
      pairs.push_back(arith::OrIOp::create(builder, loc, both, emitI32(builder, loc, anchor << 16 | anchor)));
    }
    return pairs;
  }

  /// The bits of a word starting at bit `shift`.
  struct Field {
    Value word;
    unsigned shift;
  };

  /// Returns the field of the word from which a masked value was extracted by a shift, if the position of its bits is
  /// known.
  static Field fieldOf(Value masked, uint32_t mask) {
    Value shifted = masked.getDefiningOp()->getOperand(0);
    Operation *shift = shifted.getDefiningOp();
    constexpr unsigned wordBits = 32, distanceBits = 5; // shifts by more than the width of a word are undefined
    std::optional<uint64_t> distance = isa_and_present<arith::ShRSIOp, arith::ShRUIOp>(shift)
                                           ? findLowBits(shift->getOperand(1), distanceBits)
                                           : std::nullopt;
    if (!distance || *distance + llvm::bit_width(mask) > wordBits)
      return {shifted, 0};
    return {shift->getOperand(0), unsigned(*distance)};
  }

  /// Puts one field into each half of a word; each field may have other bits above it. Words are shifted by less than a
  /// byte, so that other fields of the same word can use the same shifted value.
  static Value packFields(Field low, Field high, Location loc, OpBuilder &builder) {
    auto shifted = [&](Field field) -> Value {
      unsigned distance = field.shift % 8;
      return distance == 0 ? field.word
                           : arith::ShRUIOp::create(builder, loc, field.word, emitI32(builder, loc, distance));
    };
    auto bytes = [](Field field) { return field.shift / 8 | std::min(field.shift / 8 + 1, 3U) << 4; };
    return permute(shifted(low), shifted(high), bytes(low) | (bytes(high) + 0x44) << 8, loc, builder);
  }

  /// Returns the mask that was applied to a value, if it has at most 16 bits.
  static std::optional<uint32_t> maskOf(Value value) {
    auto masked = value.getDefiningOp<arith::AndIOp>();
    APInt mask;
    if (!masked || !matchPattern(masked.getRhs(), m_ConstantInt(&mask)) || mask.getActiveBits() > 16)
      return std::nullopt;
    return mask.getZExtValue();
  }

  /// Returns the values in the words, each word holding one or two values, after subtracting `anchor` from each, unless
  /// `anchor` is 0.
  static Registers less(double anchor, ValueRange words, Type to, bool isPair, OpBuilder &builder) {
    Location loc = words.front().getLoc();
    Registers results;
    if (!isPair) {
      Type f32 = builder.getF32Type();
      Value number = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(anchor)));
      for (Value word : words) {
        Value difference =
            arith::SubFOp::create(builder, loc, arith::BitcastOp::create(builder, loc, f32, word), number);
        results.push_back(to.isF32() ? difference : Value(arith::TruncFOp::create(builder, loc, to, difference)));
      }
      return results;
    }
    auto pair = VectorType::get(2, to);
    auto number = DenseElementsAttr::get(pair, builder.getFloatAttr(to, anchor).getValue());
    Value offsets = arith::ConstantOp::create(builder, loc, number);
    for (Value word : words) {
      Value both = LLVM::BitcastOp::create(builder, loc, pair, word);
      if (anchor != 0)
        both = arith::SubFOp::create(builder, loc, both, offsets);
      for (size_t half : {0, 1})
        results.push_back(LLVM::ExtractElementOp::create(builder, loc, both, emitI32(builder, loc, half)));
    }
    return results;
  }
};

} // namespace

void registerSmallIntegerLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<SmallIntegerLowering<arith::SIToFPOp>, SmallIntegerLowering<arith::UIToFPOp>>(
      lowerings.converter, lowerings.context, lowerings.gpu.has(target::Feature::BF16Arithmetic));
}

} // namespace tile::conversion
