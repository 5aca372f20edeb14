// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements CarryValues.h, with one function for each kind of structured control flow.
#include "Transforms/Cta/CarryValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

static void append(Operation *terminator, ValueRange values) {
  terminator->insertOperands(terminator->getNumOperands(), values);
}

static Operation *carryThrough(RewriterBase &rewriter, scf::ForOp loop, ValueRange values) {
  auto unchanged = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>(added.begin(), added.end());
  };
  return *loop.replaceWithAdditionalYields(rewriter, values, /*replaceInitOperandUsesInLoop=*/false, unchanged);
}

static Operation *carryThrough(RewriterBase &rewriter, scf::IfOp branch, ValueRange values) {
  SmallVector<Type> types(branch.getResultTypes());
  llvm::append_range(types, values.getTypes());
  auto replacement = scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(),
                                       /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [from, to] : llvm::zip(branch->getRegions(), replacement->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    if (to.empty()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&to);
      scf::YieldOp::create(rewriter, branch.getLoc());
    }
    append(to.front().getTerminator(), values);
  }
  rewriter.replaceOp(branch, replacement.getResults().drop_back(values.size()));
  return replacement;
}

static Operation *carryThrough(RewriterBase &rewriter, scf::WhileOp loop, ValueRange values) {
  SmallVector<Type> types(loop.getResultTypes());
  llvm::append_range(types, values.getTypes());
  SmallVector<Value> inits(loop.getInits());
  llvm::append_range(inits, values);
  auto replacement = scf::WhileOp::create(rewriter, loop.getLoc(), types, inits);
  for (auto [from, to] : llvm::zip(loop->getRegions(), replacement->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    Block &block = to.front();
    for (Type type : values.getTypes())
      block.addArgument(type, loop.getLoc());
    append(block.getTerminator(), block.getArguments().take_back(values.size()));
  }
  rewriter.replaceOp(loop, replacement.getResults().drop_back(values.size()));
  return replacement;
}

Operation *tile::carryValues(RewriterBase &rewriter, Operation *op, ValueRange values) {
  rewriter.setInsertionPoint(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return carryThrough(rewriter, loop, values);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return carryThrough(rewriter, branch, values);
  return carryThrough(rewriter, cast<scf::WhileOp>(op), values);
}
