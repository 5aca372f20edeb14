// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-swap-dot: compute dots with few rows, or with a number of rows that is not a power of two, as c^T = b^T a^T.
//
//   for %k iter_args(%acc: 16x64):                          for %k iter_args(%acc: 64x16):
//     %c = tile.dot %a, %b, %acc : 16x64, 64x64        ==>    %c = tile.dot (trans %b), (trans %a), %acc : 64x64, 64x16
//     yield %c                                                yield %c
//                                                           %result = trans of the loop's result
//
// A decoder multiplies weights by the activations of a few tokens. A wgmma always computes 64 rows. As the left
// operand, the weights fill these rows, and there is one column per token. As the right operand, the weights would
// mostly be multiplied by rows of zeros. wgmma also has instructions with 144 columns, but not with 144 rows: blocks of
// 144 x 128 split a result of 1536 x 1536 into 132 blocks, one for each multiprocessor of an H200. TMA copies both
// operands to shared memory, where a matrix descriptor supports either layout, so transposing them is free; the
// accumulator is transposed once, when it is written. Analysis/Dots/SwappedDot.h says which dots can be swapped.
#include "Analysis/Dots/SwappedDot.h"
#include "Analysis/Engines/EngineChoice.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILESWAPDOT
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct PlannedSwap {
  DotOp dot;
  SwapPlan plan;
};

RankedTensorType transposed(Type type) {
  auto matrix = cast<RankedTensorType>(type);
  return RankedTensorType::get({matrix.getDimSize(1), matrix.getDimSize(0)}, matrix.getElementType());
}

Value emitTrans(OpBuilder &builder, Location loc, Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, splat.resizeSplat(transposed(value.getType())));
  return TransOp::create(builder, loc, transposed(value.getType()), value, ArrayRef<int32_t>{1, 0});
}

/// Makes the loop carry the transposed accumulator, and transposes its result back after the loop.
void carryTransposed(OpBuilder &builder, const SwapPlan &plan) {
  scf::ForOp loop = plan.loop;
  builder.setInsertionPoint(loop);
  OpOperand &init = loop.getInitArgsMutable()[plan.index];
  init.set(emitTrans(builder, loop.getLoc(), init.get()));
  OpResult result = loop->getResult(plan.index);
  loop.getRegionIterArg(plan.index).setType(init.get().getType());
  result.setType(init.get().getType());
  builder.setInsertionPointAfter(loop);
  Value back = emitTrans(builder, loop.getLoc(), result);
  result.replaceAllUsesExcept(back, back.getDefiningOp());
}

void swapDot(const PlannedSwap &swap) {
  DotOp dot = swap.dot;
  OpBuilder builder(dot);
  if (swap.plan.loop)
    carryTransposed(builder, swap.plan);
  builder.setInsertionPoint(dot);
  Location loc = dot.getLoc();
  Value acc = swap.plan.loop ? dot.getAcc() : emitTrans(builder, loc, dot.getAcc());
  Value a = emitTrans(builder, loc, dot.getB()), b = emitTrans(builder, loc, dot.getA());
  Value result = DotOp::create(builder, loc, a, b, acc, dot.getPrecision(), dot.getMaxNumImpreciseAcc(),
                               cast<Engine>(getBufferEngine(dot).withoutSwap()));
  dot.getResult().replaceAllUsesWith(swap.plan.loop ? result : emitTrans(builder, loc, result));
  dot.erase();
}

struct TileSwapDot : tile::impl::TileSwapDotBase<TileSwapDot> {
  void runOnKernel() override {
    SmallVector<PlannedSwap> swaps;
    getOperation().walk([&](DotOp dot) {
      cta::BufferEngine engine = getBufferEngine(dot);
      if (!engine || !engine.getSwapped())
        return;
      SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
      std::optional<SwapPlan> plan = planSwap(dot);
      if (plan && isa_and_present<DescLoadOp>(a.source) && isa_and_present<DescLoadOp>(b.source))
        swaps.push_back({dot, *plan});
    });
    llvm::for_each(swaps, swapDot);
  }
};

} // namespace
