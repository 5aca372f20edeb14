// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What moves elements between lanes of a warp: one shuffle for each register of the result, or, in conversions, for
// several that fill 32 bits.
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
/// Outputs of layout::conversionMap.
enum { registerOut, laneOut };

/// Which register of which lane each register of the result comes from.
struct Sources {
  explicit Sources(const layout::LinearLayout &map) : lanes(ThreadMap::coordinate(map, laneOut)) {
    for (int64_t index = 0; index < map.numRegisters(); ++index)
      registers.push_back(map.apply({{layout::registerDim, index}})[registerOut]);
  }

  /// How many consecutive registers one shuffle can bring, `most` at most: they come from the same lane.
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
      return rewriter.notifyMatchFailure(op, "is no movement between lanes");
    Sources sources(layout::planMovement(src, dst).sources);
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
      return rewriter.notifyMatchFailure(op, "is a movement between warps");
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
