// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves elements between the lanes of a warp, with one shuffle per register of the result or, in conversions, per group
// of registers that fill 32 bits. If the bytes of a word come in pairs from two lanes, two shuffles form the word.
//
//   %y = cta.convert_layout %x : [64] f32, lane = [[2], …, [32]] -> lane = [[2], [4], [0], [0], [0]]
//     y[r] = shfl.idx x[register of r], (lane & 3) + constant of r
//   %y = tile.butterfly %x : [64] f32, register = [[1]], lane = [[2], …, [32]], distance 5
//     y[r] = shfl.bfly x[r ^ 1], 2
#include "Combine.h"
#include "EmitLayout.h"
#include "Patterns.h"
#include "Words.h"

#include "Layout/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::conversion {

namespace {

constexpr unsigned shuffleBits = 32;
/// Names of the outputs of layout::conversionMap.
enum { registerOut, laneOut };

/// The source register and lane of each register of the result.
struct Sources {
  explicit Sources(const layout::LinearLayout &map) : lanes(ThreadMap::coordinate(map, laneOut)) {
    for (int64_t index = 0; index < map.numRegisters(); ++index)
      registers.push_back(map.apply({{layout::registerDim, index}})[registerOut]);
  }

  /// Returns the number of consecutive registers, at most `most`, that come from the same lane, so that one shuffle can
  /// move them.
  unsigned groupSize(unsigned most) const {
    unsigned size = 1;
    for (uint64_t basis : lanes.registers) {
      if (basis != 0 || size == most)
        break;
      size *= 2;
    }
    return size;
  }

  std::vector<int32_t> registers;
  ThreadMap lanes;
};

struct ShuffleLowering : OpConversionPattern<cta::ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ConvertLayoutOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const layout::LinearLayout &src = cta::getLayout(op.getSrc().getType()), &dst = cta::getLayout(op.getType());
    Type element = getElementTypeOf(op.getType());
    unsigned bits = 8 * getBytesInMemory(element);
    if (!layout::movesByShuffles(src, dst, bits / 8))
      return rewriter.notifyMatchFailure(op, "does not move elements between lanes");
    layout::LinearLayout map = layout::conversionMap(src, dst);
    Sources sources(map);
    if (layout::movesByPairs(map, bits / 8)) {
      rewriter.replaceOpWithMultiple(op, {shufflePairs(rewriter, op, adaptor.getSrc(), map, sources)});
      return success();
    }
    unsigned count = sources.groupSize(shuffleBits / bits);
    WordFormat format{bits * count, 1, count};
    OffsetEmitter lanes(rewriter, op.getLoc(), sources.lanes);
    Registers registers;
    for (size_t first = 0; first < sources.registers.size(); first += count) {
      SmallVector<Value> values;
      for (unsigned index = 0; index < count; ++index)
        values.push_back(adaptor.getSrc()[sources.registers[first + index]]);
      Value word = packWords(rewriter, op.getLoc(), values, format).front();
      word = shuffle(rewriter, op.getLoc(), word, lanes.indexOfRegister(first));
      llvm::append_range(registers, unpackWords(rewriter, op.getLoc(), word, element, format));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

private:
  /// Forms each word from two pairs of bytes, with one shuffle for each pair. In each shuffle, a lane provides a word
  /// with two pairs, and the lane that reads it selects one pair.
  static Registers shufflePairs(OpBuilder &builder, cta::ConvertLayoutOp op, ValueRange src,
                                const layout::LinearLayout &map, const Sources &sources) {
    constexpr unsigned pair = 2, bytes = 4;
    constexpr int32_t lowPairs = 0x5410, highPairs = 0x7632; // the low or high pairs of two words (PTX ISA, "prmt")
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getType());
    ThreadMap choices = ThreadMap::coordinate(map, registerOut);
    // The XOR of the register indices of the two pairs that a lane provides; 0 if all lanes read the same pair.
    uint64_t other = 0;
    for (uint64_t basis : choices.threads)
      other |= basis;
    Value selector = emitI32(builder, loc, lowPairs);
    if (other != 0) {
      Value chosen = OffsetEmitter(builder, loc, choices).index(0);
      Value isOther = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, chosen, emitI32(builder, loc, 0));
      selector = arith::SelectOp::create(builder, loc, isOther, emitI32(builder, loc, highPairs), selector);
    }
    OffsetEmitter lanes(builder, loc, sources.lanes);
    DenseMap<int32_t, Value> offered;
    auto offer = [&](size_t index) {
      Value &word = offered[sources.registers[index]];
      if (!word) {
        SmallVector<Value> values;
        for (uint64_t choice : {uint64_t(0), other})
          for (unsigned part = 0; part < pair; ++part)
            values.push_back(src[sources.registers[index + part] ^ choice]);
        word = packWords(builder, loc, values, {shuffleBits, 1, bytes}).front();
      }
      return word;
    };
    Registers registers;
    for (size_t first = 0; first < sources.registers.size(); first += bytes) {
      Value low = shuffle(builder, loc, offer(first), lanes.indexOfRegister(first));
      Value high = shuffle(builder, loc, offer(first + pair), lanes.indexOfRegister(first + pair));
      Value word =
          NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), low, high, selector, NVVM::PermuteMode::DEFAULT);
      llvm::append_range(registers, unpackWords(builder, loc, word, element, {shuffleBits, 1, bytes}));
    }
    return registers;
  }

  static Value shuffle(OpBuilder &builder, Location loc, Value word, Value lane) {
    Type type = word.getType(), shuffled = builder.getIntegerType(shuffleBits);
    if (type != shuffled)
      word = arith::ExtUIOp::create(builder, loc, shuffled, word);
    word = NVVM::ShflOp::create(builder, loc, shuffled, /*mask=*/emitI32(builder, loc, -1), word, lane,
                                /*clamp=*/emitI32(builder, loc, 31), NVVM::ShflKind::idx,
                                /*return_value_and_is_valid=*/UnitAttr());
    return type == shuffled ? word : arith::TruncIOp::create(builder, loc, type, word);
  }
};

struct ButterflyLowering : OpConversionPattern<ButterflyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ButterflyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const layout::LinearLayout &layout = cta::getLayout(op.getType());
    layout::Distance distance = layout::findDistance(layout, op.getAxis(), op.getDistance());
    if (distance.warps != 0)
      return rewriter.notifyMatchFailure(op, "moves elements between warps");
    Registers registers;
    for (size_t index = 0; index < adaptor.getSrc().size(); ++index) {
      Value other = adaptor.getSrc()[index ^ distance.registers];
      if (distance.lanes != 0)
        other = emitShuffle(rewriter, op.getLoc(), other, emitI32(rewriter, op.getLoc(), distance.lanes),
                            ShuffleSource::Xor);
      registers.push_back(other);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void registerShuffleLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ShuffleLowering, ButterflyLowering>(lowerings.converter, lowerings.context);
}

} // namespace tile::conversion
