// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of an iteration is in flight in the one behind it; see KeepInFlight.h.
#include "Transforms/Cta/KeepInFlight.h"

#include "Transforms/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

std::optional<LoopProduct> LoopProduct::of(scf::ForOp loop) {
  if (loop.getUnsignedCmp()) // the bounds are compared as signed numbers below
    return std::nullopt;
  auto products = loop.getBody()->getOps<cta::WgmmaOp>();
  auto awaits = loop.getBody()->getOps<cta::AwaitOp>();
  if (!llvm::hasSingleElement(products) || !llvm::hasSingleElement(awaits))
    return std::nullopt;
  LoopProduct found{*products.begin(), *awaits.begin()};
  if (!found.product.getBufferA() ||
      found.product.isSynchronous()) // the next iteration may write registers that the product still reads
    return std::nullopt;
  auto acc = dyn_cast<BlockArgument>(found.product.getAcc());
  if (found.await.getAcc() != found.product.getResult() || found.await.getToken() != found.product.getToken() || !acc ||
      acc.getOwner() != loop.getBody() || acc.getArgNumber() == 0 || !acc.hasOneUse() ||
      !found.await.getResult().hasOneUse())
    return std::nullopt;
  found.index = acc.getArgNumber() - 1;
  if (loop.getYieldedValues()[found.index] != found.await.getResult())
    return std::nullopt;
  return found;
}

/// The accumulator where there is no product. LLVM must not know that it is constant: constants that meet other
/// values behind a branch are set in front of it, for each program in all of a thread's 128 registers.
static Value emitZeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  const char *constraint = type.getElementType().isF32() ? "=f" : "=r";
  auto zero = InlineAsmOp::create(builder, loc, TypeRange{type.getElementType()}, "mov.b32 $0, 0;", constraint,
                                  /*pack=*/1, /*isPure=*/false, ValueRange{});
  return SplatOp::create(builder, loc, type, zero.getResult(0));
}

// Slots of buffers are numbers, of which none is negative.
static constexpr int64_t noNumber = -1;

static Value emitNone(OpBuilder &builder, Location loc, Type slot) {
  if (isa<cta::RingSlotType>(slot))
    return cta::RingNoneOp::create(builder, loc);
  return emitI32(builder, loc, noNumber);
}

static Value emitHolds(OpBuilder &builder, Location loc, Value slot) {
  if (isa<cta::RingSlotType>(slot.getType()))
    return cta::RingHoldsOp::create(builder, loc, slot);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, slot, emitI32(builder, loc, noNumber));
}

LoopInFlight tile::keepInFlight(IRRewriter &rewriter, scf::ForOp loop, const LoopProduct &found, ValueRange slots) {
  auto [product, await, index] = found;
  Location loc = loop.getLoc();
  Value start = loop.getInitArgs()[index];
  auto type = cast<RankedTensorType>(start.getType());
  bool startsFromZero = matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero());
  rewriter.setInsertionPoint(loop);
  Value any =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> unchanged(loop.getInitArgs());
  if (startsFromZero)
    unchanged[index] = emitZeros(rewriter, loc, type);
  scf::YieldOp::create(rewriter, loc, unchanged);

  rewriter.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> inits(loop.getInitArgs());
  if (startsFromZero)
    inits[index] = cta::UndefinedOp::create(rewriter, loc, type);
  for (Value slot : slots)
    inits.push_back(emitNone(rewriter, loc, slot.getType()));
  inits.push_back(cta::TokenNoneOp::create(rewriter, loc));
  auto ahead = scf::ForOp::create(rewriter, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  Operation *yield = loop.getBody()->getTerminator();
  yield->insertOperands(yield->getNumOperands(), slots);
  yield->insertOperands(yield->getNumOperands(), product.getToken());
  size_t count = loop.getBody()->getNumArguments(), results = loop.getNumResults();
  LoopInFlight flight;
  llvm::append_range(flight.previous, ahead.getRegionIterArgs().slice(results, slots.size()));
  llvm::append_range(flight.last, ahead.getResults().slice(results, slots.size()));
  flight.previousToken = ahead.getRegionIterArgs().back();
  flight.lastToken = ahead.getResults().back();
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(ahead.getBody());
    flight.isLater = emitHolds(rewriter, loc, flight.previous.front());
    await.getTokenMutable().assign(flight.previousToken);
    if (startsFromZero)
      product.getAccumulateMutable().assign(flight.isLater);
    rewriter.mergeBlocks(loop.getBody(), ahead.getBody(), ahead.getBody()->getArguments().take_front(count));
  }
  SmallVector<Value> values(ahead.getResults().take_front(results));
  Value awaited =
      cta::AwaitOp::create(rewriter, await.getLoc(), values[index], flight.lastToken, await.getColumnsAttr());
  values[index] = awaited;
  scf::YieldOp::create(rewriter, loc, values);
  rewriter.replaceOp(loop, branch.getResults());
  rewriter.setInsertionPointAfterValue(awaited);
  return flight;
}
