// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop peeling; see PeelLoop.h.
#include "Transforms/Cta/PeelLoop.h"

#include "Analysis/Loops/LoopRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;

/// Returns the result of the comparison if it is the same for all values of `number` from `lower` on. In canonical
/// form, a constant is on the right.
static std::optional<bool> decide(arith::CmpIOp comparison, Value number, int64_t lower) {
  std::optional<int64_t> bound = getConstantIntValue(comparison.getRhs());
  if (!bound || comparison.getLhs() != number)
    return std::nullopt;
  switch (comparison.getPredicate()) {
  case arith::CmpIPredicate::sge:
    return lower >= *bound ? std::optional(true) : std::nullopt;
  case arith::CmpIPredicate::sgt:
    return lower > *bound ? std::optional(true) : std::nullopt;
  case arith::CmpIPredicate::slt:
    return lower >= *bound ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sle:
    return lower > *bound ? std::optional(false) : std::nullopt;
  default:
    return std::nullopt;
  }
}

bool tile::gainsByPeeling(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()), step = getConstantIntValue(loop.getStep());
  if (!lower || !step || loop.getUnsignedCmp())
    return false;
  return llvm::any_of(loop.getInductionVar().getUsers(), [&](Operation *user) {
    auto comparison = dyn_cast<arith::CmpIOp>(user);
    return comparison && comparison->getBlock() == loop.getBody() &&
           !decide(comparison, loop.getInductionVar(), *lower) &&
           decide(comparison, loop.getInductionVar(), *lower + *step) &&
           llvm::any_of(comparison->getUsers(), [](Operation *use) {
             return llvm::any_of(use->getResultTypes(), llvm::IsaPred<RankedTensorType>);
           });
  });
}

void tile::peelFirst(IRRewriter &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value any = LoopRange(rewriter, loop).emitAny();
  auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
  rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());

  rewriter.setInsertionPointToStart(branch.thenBlock());
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  first.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (Operation &op : loop.getBody()->without_terminator())
    rewriter.clone(op, first);
  SmallVector<Value> inits;
  for (Value next : loop.getYieldedValues())
    inits.push_back(first.lookupOrDefault(next));
  LoopRange others = LoopRange(rewriter, loop).emitWithoutFirst();
  auto yield = scf::YieldOp::create(rewriter, loc, loop.getResults());
  rewriter.moveOpBefore(loop, yield);
  rewriter.modifyOpInPlace(loop, [&] {
    loop.setLowerBound(others.lower);
    loop.setUpperBound(others.upper);
    loop.getInitArgsMutable().assign(inits);
  });
  foldComparisons(rewriter, loop);
}

void tile::foldComparisons(IRRewriter &rewriter, scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  if (!lower || loop.getUnsignedCmp())
    return;
  for (Operation *user : llvm::make_early_inc_range(loop.getInductionVar().getUsers()))
    if (auto comparison = dyn_cast<arith::CmpIOp>(user))
      if (std::optional<bool> value = decide(comparison, loop.getInductionVar(), *lower)) {
        rewriter.setInsertionPoint(comparison);
        rewriter.replaceOpWithNewOp<arith::ConstantIntOp>(comparison, rewriter.getI1Type(), *value);
      }
}
