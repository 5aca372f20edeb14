// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop unrolling; see UnrollLoop.h.
#include "Transforms/Cta/UnrollLoop.h"

#include "Analysis/Loops/LoopRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

namespace {

/// Returns the largest step that can be multiplied by `factor` without overflow.
APInt getLargestStep(const LoopRange &range, unsigned factor) {
  unsigned width = range.getWidth();
  APInt most = range.isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return most.udiv(APInt(width, factor));
}

/// Emits the range of the iterations that remain after as many as possible have been executed `factor` at a time. If a
/// run-time step is too large to be multiplied (`canMultiply`, if given, is false), all iterations remain.
LoopRange emitRemainder(OpBuilder &builder, LoopRange range, unsigned factor, Value canMultiply) {
  Location loc = range.step.getLoc();
  Value count = range.emitCount();
  Value left = builder.createOrFold<arith::AndIOp>(loc, count, range.constant(factor - 1));
  Value done = builder.createOrFold<arith::SubIOp>(loc, count, left);
  Value hasLeft = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, left, range.constant(0));
  LoopRange remainder = range;
  remainder.lower = range.emitVariable(done); // wraps if it is beyond the last iteration
  if (canMultiply) {
    remainder.lower = builder.createOrFold<arith::SelectOp>(loc, canMultiply, remainder.lower, range.lower);
    Value hasAll = builder.createOrFold<arith::XOrIOp>(
        loc, canMultiply, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    hasLeft = builder.createOrFold<arith::OrIOp>(loc, hasLeft, hasAll);
  }
  return remainder.emitIf(hasLeft);
}

/// Repeats the body, each time with the next value of the induction variable.
void repeatBody(IRRewriter &rewriter, scf::ForOp loop, unsigned factor, Value step) {
  Block *body = loop.getBody();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Operation *> operations;
  for (Operation &op : body->without_terminator())
    operations.push_back(&op);
  SmallVector<Value> carried(yield.getOperands());
  rewriter.setInsertionPoint(yield);
  for (unsigned copy = 1; copy < factor; ++copy) {
    Location loc = loop.getLoc();
    Value index = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(step.getType(), copy));
    Value distance = rewriter.createOrFold<arith::MulIOp>(loc, step, index);
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), distance).getResult());
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation *op : operations)
      rewriter.clone(*op, mapping);
    for (auto [value, next] : llvm::zip_equal(carried, yield.getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(carried); });
}

} // namespace

bool tile::unrollLoop(IRRewriter &rewriter, scf::ForOp loop, unsigned factor) {
  std::optional<APInt> known = countIterations(loop);
  APInt step;
  rewriter.setInsertionPoint(loop);
  LoopRange range(rewriter, loop);
  APInt largestStep = getLargestStep(range, factor);
  bool isConstant = matchPattern(range.step, m_ConstantInt(&step));
  if ((known && known->ult(factor)) || (isConstant && step.ugt(largestStep)))
    return false;

  Location loc = loop.getLoc();
  Value times = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(range.step.getType(), factor));
  Value wide = rewriter.createOrFold<arith::MulIOp>(loc, range.step, times), canMultiply;
  LoopRange many = range;
  many.upper = range.emitLimit(factor - 1);
  if (!isConstant) {
    auto noMore = range.isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
    canMultiply = arith::CmpIOp::create(rewriter, loc, noMore, range.step, range.constant(largestStep));
    wide = arith::SelectOp::create(rewriter, loc, canMultiply, wide, range.step);
    many.upper = many.emitIf(canMultiply).upper;
  }
  if (!known || known->urem(factor) != 0) {
    LoopRange left = emitRemainder(rewriter, range, factor, canMultiply);
    rewriter.setInsertionPointAfter(loop);
    auto remainder = cast<scf::ForOp>(rewriter.clone(*loop));
    remainder.setLowerBound(left.lower);
    remainder.setUpperBound(left.upper);
    rewriter.replaceAllUsesWith(loop.getResults(), remainder.getResults());
    remainder.getInitArgsMutable().assign(loop.getResults());
  }
  rewriter.modifyOpInPlace(loop, [&] {
    loop.setUpperBound(many.upper);
    loop.setStep(wide);
  });
  repeatBody(rewriter, loop, factor, range.step);
  return true;
}
