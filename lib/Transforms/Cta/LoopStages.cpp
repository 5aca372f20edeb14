// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, names and masks for pipelined loops.
#include "Transforms/Cta/LoopStages.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

DenseSet<Operation *> tile::collectStage(scf::ForOp loop, llvm::function_ref<bool(Operation *)> isRoot) {
  DenseSet<Operation *> stage;
  SmallVector<Operation *> worklist;
  auto add = [&](Operation *op) {
    Operation *inBody = op ? loop.getBody()->findAncestorOpInBlock(*op) : nullptr;
    if (inBody && stage.insert(inBody).second)
      worklist.push_back(inBody);
  };
  for (Operation &op : *loop.getBody())
    if (isRoot(&op))
      add(&op);
  while (!worklist.empty()) {
    SetVector<Value> operands;
    worklist.pop_back_val()->walk([&](Operation *op) { operands.insert_range(op->getOperands()); });
    for (Value operand : operands) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0)
        operand = loop.getYieldedValues()[argument.getArgNumber() - 1];
      add(operand.getDefiningOp());
    }
  }
  return stage;
}

void tile::nameYields(RewriterBase &rewriter, scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  for (OpOperand &operand : yield->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    if (!op || op->getBlock() != loop.getBody())
      operand.set(UnrealizedConversionCastOp::create(rewriter, loop.getLoc(), operand.get().getType(), operand.get())
                      .getResult(0));
  }
}

void tile::eraseNames(RewriterBase &rewriter, KernelOp kernel) {
  kernel.walk([&](UnrealizedConversionCastOp name) {
    if (name->getOperandTypes() == name->getResultTypes())
      rewriter.replaceOp(name, name->getOperands());
  });
}

Value tile::emitMaskIf(OpBuilder &builder, Location loc, Value condition, Value mask, Value pointers) {
  Type type = getMaskType(pointers.getType());
  Value all = isa<RankedTensorType>(type) ? SplatOp::create(builder, loc, type, condition) : condition;
  return mask ? arith::AndIOp::create(builder, loc, all, mask) : all;
}
