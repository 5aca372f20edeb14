// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One clone function for each kind of structured control flow.
#include "Transforms/Cta/CloneControl.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

SmallVector<unsigned> ControlCloner::findKept(ValueRange values) {
  SmallVector<unsigned> kept;
  for (auto [index, value] : llvm::enumerate(values))
    if (carried.contains(value))
      kept.push_back(index);
  return kept;
}

SmallVector<Value> ControlCloner::lookUp(ValueRange values, ArrayRef<unsigned> kept) {
  return llvm::map_to_vector(kept, [&](unsigned index) { return mapping.lookupOrDefault(values[index]); });
}

void ControlCloner::map(ValueRange from, ArrayRef<unsigned> kept, ValueRange to) {
  for (auto [index, value] : llvm::zip(kept, to))
    mapping.map(from[index], value);
}

void ControlCloner::clone(Operation *op) {
  // The body builders use `rewriter`, whose insertion point is then in the body.
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    SmallVector<unsigned> kept = findKept(loop.getRegionIterArgs());
    auto body = [&](OpBuilder &, Location loc, Value count, ValueRange arguments) {
      mapping.map(loop.getInductionVar(), count);
      map(loop.getRegionIterArgs(), kept, arguments);
      cloneOps(*loop.getBody());
      scf::YieldOp::create(rewriter, loc, lookUp(loop.getYieldedValues(), kept));
    };
    auto clone =
        scf::ForOp::create(rewriter, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                           mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()),
                           lookUp(loop.getInitArgs(), kept), body, loop.getUnsignedCmp());
    map(loop.getResults(), kept, clone.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    SmallVector<unsigned> kept = findKept(branch.getResults());
    auto cloneSide = [&](Region &side, Location loc) {
      SmallVector<Value> yielded;
      if (!side.empty()) {
        cloneOps(side.front());
        yielded = lookUp(side.front().getTerminator()->getOperands(), kept);
      }
      scf::YieldOp::create(rewriter, loc, yielded);
    };
    auto clone = scf::IfOp::create(
        rewriter, branch.getLoc(), mapping.lookupOrDefault(branch.getCondition()),
        [&](OpBuilder &, Location loc) { cloneSide(branch.getThenRegion(), loc); },
        [&](OpBuilder &, Location loc) { cloneSide(branch.getElseRegion(), loc); });
    map(branch.getResults(), kept, clone.getResults());
  } else if (auto programs = dyn_cast<ProgramsOp>(op)) {
    auto clone = cast<ProgramsOp>(rewriter.cloneWithoutRegions(*programs, mapping));
    Block &body = clone.getBody().emplaceBlock();
    for (BlockArgument argument : programs.getBody().getArguments())
      mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&body);
    cloneOps(programs.getBody().front());
    YieldOp::create(rewriter, programs.getLoc(), ValueRange());
  } else {
    auto loop = cast<scf::WhileOp>(op);
    SmallVector<unsigned> before = findKept(loop.getBeforeArguments()), after = findKept(loop.getAfterArguments());
    SmallVector<Type> types =
        llvm::map_to_vector(after, [&](unsigned index) { return loop->getResult(index).getType(); });
    auto condition = [&](OpBuilder &, Location loc, ValueRange arguments) {
      map(loop.getBeforeArguments(), before, arguments);
      cloneOps(*loop.getBeforeBody());
      scf::ConditionOp end = loop.getConditionOp();
      scf::ConditionOp::create(rewriter, loc, mapping.lookupOrDefault(end.getCondition()),
                               lookUp(end.getArgs(), after));
    };
    auto body = [&](OpBuilder &, Location loc, ValueRange arguments) {
      map(loop.getAfterArguments(), after, arguments);
      cloneOps(*loop.getAfterBody());
      scf::YieldOp::create(rewriter, loc, lookUp(loop.getYieldOp()->getOperands(), before));
    };
    auto clone = scf::WhileOp::create(rewriter, loop.getLoc(), types, lookUp(loop.getInits(), before), condition, body);
    map(loop.getResults(), after, clone.getResults());
  }
}
