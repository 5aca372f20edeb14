// Loops and branches that carry two values more.
#include "Transforms/Cta/RingCounters.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

/// The block of a loop from which it goes on.
static Block *getLoopBody(LoopLikeOpInterface loop) {
  return &loop.getLoopRegions().back()->front();
}

static RingCounters lastTwo(ValueRange values) {
  return {values.drop_back().back(), values.back()};
}

static void setLastTwo(Operation *terminator, RingCounters counters) {
  unsigned count = terminator->getNumOperands();
  terminator->setOperand(count - 2, counters.slot);
  terminator->setOperand(count - 1, counters.parity);
}

static void append(Operation *terminator, ValueRange counters) {
  terminator->insertOperands(terminator->getNumOperands(), counters);
}

// Each of these leaves the counters as they are; a new operation's last two results are those after it.

static Operation *addCounters(RewriterBase &rewriter, scf::ForOp loop, RingCounters counters) {
  auto unchanged = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>(added.begin(), added.end());
  };
  return *loop.replaceWithAdditionalYields(rewriter, {counters.slot, counters.parity},
                                           /*replaceInitOperandUsesInLoop=*/false, unchanged);
}

static Operation *addCounters(RewriterBase &rewriter, scf::IfOp branch, RingCounters counters) {
  SmallVector<Type> types(branch.getResultTypes());
  types.append(2, rewriter.getI32Type());
  auto replacement = scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(),
                                       /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [from, to] : llvm::zip(branch->getRegions(), replacement->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    if (to.empty()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&to);
      scf::YieldOp::create(rewriter, branch.getLoc());
    }
    append(to.front().getTerminator(), {counters.slot, counters.parity});
  }
  rewriter.replaceOp(branch, replacement.getResults().drop_back(2));
  return replacement;
}

static Operation *addCounters(RewriterBase &rewriter, scf::WhileOp loop, RingCounters counters) {
  SmallVector<Type> types(loop.getResultTypes());
  types.append(2, rewriter.getI32Type());
  SmallVector<Value> inits(loop.getInits());
  inits.append({counters.slot, counters.parity});
  auto replacement = scf::WhileOp::create(rewriter, loop.getLoc(), types, inits);
  for (auto [from, to] : llvm::zip(loop->getRegions(), replacement->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    Block &block = to.front();
    for (unsigned i = 0; i < 2; ++i)
      block.addArgument(rewriter.getI32Type(), loop.getLoc());
    append(block.getTerminator(), block.getArguments().take_back(2));
  }
  rewriter.replaceOp(loop, replacement.getResults().drop_back(2));
  return replacement;
}

static Operation *addCounters(RewriterBase &rewriter, Operation *op, RingCounters counters) {
  rewriter.setInsertionPoint(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addCounters(rewriter, loop, counters);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addCounters(rewriter, branch, counters);
  return addCounters(rewriter, cast<scf::WhileOp>(op), counters);
}

unsigned tile::carryCounters(RewriterBase &rewriter, const Channel &channel, RingCounters start,
                             llvm::function_ref<RingCounters(RingCounters)> next) {
  RingCounters counters = start;
  unsigned index = 0;
  size_t depth = channel.getPath().size();
  for (size_t level = 0; level < depth; ++level) {
    // The path anew, because each step replaces a part of it.
    Operation *op = addCounters(rewriter, channel.getPath()[level], counters);
    if (level > 0)
      setLastTwo(op->getBlock()->getTerminator(), lastTwo(op->getResults()));
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      Block *body = getLoopBody(loop);
      counters = lastTwo(body->getArguments());
      index = body->getNumArguments() - 2;
    }
  }
  if (depth > 0) {
    Operation *terminator = channel.getBlock()->getTerminator();
    rewriter.setInsertionPoint(terminator);
    setLastTwo(terminator, next(counters));
  }
  return index;
}

unsigned tile::continueCounters(RewriterBase &rewriter, const Channel &previous, unsigned index, const Channel &channel,
                                llvm::function_ref<RingCounters(RingCounters)> next) {
  auto before = cast<scf::ForOp>(previous.getPath().back());
  RingCounters counters{before.getResult(index - 1), before.getResult(index)}; // the induction variable is argument 0
  auto loop = cast<scf::ForOp>(addCounters(rewriter, channel.getPath().back(), counters));
  RingCounters after = lastTwo(loop.getResults());
  Operation *terminator = loop->getBlock()->getTerminator();
  terminator->replaceUsesOfWith(counters.slot, after.slot);
  terminator->replaceUsesOfWith(counters.parity, after.parity);
  Operation *end = loop.getBody()->getTerminator();
  rewriter.setInsertionPoint(end);
  setLastTwo(end, next(lastTwo(loop.getRegionIterArgs())));
  return loop.getBody()->getNumArguments() - 2;
}

RingCounters tile::getCounters(const Channel &channel, unsigned index, RingCounters start) {
  SmallVector<LoopLikeOpInterface> loops = channel.getLoops();
  if (loops.empty())
    return start;
  Block *body = getLoopBody(loops.back());
  return {body->getArgument(index), body->getArgument(index + 1)};
}
