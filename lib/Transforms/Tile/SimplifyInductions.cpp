// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-simplify-inductions: express other counters of a loop in terms of its induction variable.
//
//   %t = scf.for %i = %lower to %n step %s              scf.for %i = %lower to %n step %s
//            iter_args(%c = %lower - 132)          ==>
//     %d = arith.addi %c, 132                             uses of %d are uses of %i
//     yield %d
//
// Programs often count tiles twice, for their loads and for their stores. With one counter, coordinates are computed
// only once (CSE), and the relation between the boundaries of loads and stores becomes visible.
//
// Blocks of integers that grow uniformly are computed from their initial value: a loop-carried block has only one
// layout, but offsets along K, which mask both operands of a dot, are needed in two layouts.
#include "Analysis/Addresses/AffineBlock.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESIMPLIFYINDUCTIONS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Values that are the induction variable plus a constant.
using Inductions = llvm::MapVector<Value, int64_t>;

/// Returns the carried integers of the induction variable's type, and the sums and differences computed from them.
llvm::SetVector<Value> collectCounters(scf::ForOp loop) {
  Type type = loop.getInductionVar().getType();
  llvm::SetVector<Value> counters;
  if (!type.isInteger())
    return counters;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (argument.getType() == type)
      counters.insert(argument);
  for (size_t next = 0; next < counters.size(); ++next)
    for (Operation *user : counters[next].getUsers())
      if (isa<arith::AddIOp, arith::SubIOp>(user))
        counters.insert(user->getResult(0));
  return counters;
}

Inductions findInductions(scf::ForOp loop, AffineBlocks &blocks) {
  Inductions found;
  for (Value counter : collectCounters(loop))
    if (std::optional<AffineBlock> form = blocks.get(counter))
      if (std::optional<int64_t> distance = (form->start - Polynomial(loop.getInductionVar())).getConstant();
          distance && llvm::isIntN(counter.getType().getIntOrFloatBitWidth(), *distance))
        found[counter] = *distance;
  return found;
}

void replaceCounter(scf::ForOp loop, Value counter, int64_t distance) {
  Value value = loop.getInductionVar();
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  if (Operation *op = counter.getDefiningOp())
    builder.setInsertionPoint(op);
  if (distance != 0) {
    Location location = counter.getLoc();
    Value constant = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(counter.getType(), distance));
    value = arith::AddIOp::create(builder, location, value, constant);
  }
  counter.replaceAllUsesWith(value);
}

/// Returns the value of all elements of a splat constant or splat; null for other blocks.
Value emitScalar(OpBuilder &builder, Value block) {
  DenseElementsAttr constant;
  if (matchPattern(block, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(builder, block.getLoc(), constant.getSplatValue<TypedAttr>());
  auto splat = block.getDefiningOp<SplatOp>();
  return splat ? splat->getOperand(0) : Value();
}

/// Returns the blocks that grow by a loop-invariant value and are not used after the loop.
SmallVector<std::pair<BlockArgument, Value>> collectBlocks(scf::ForOp loop) {
  SmallVector<std::pair<BlockArgument, Value>> blocks;
  if (!loop.getInductionVar().getType().isInteger())
    return blocks;
  for (auto [argument, yielded, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto sum = yielded.getDefiningOp<arith::AddIOp>();
    if (!type || !type.getElementType().isInteger() || !sum || !result.use_empty())
      continue;
    Value growth = sum.getLhs() == argument ? sum.getRhs() : sum.getRhs() == argument ? sum.getLhs() : Value();
    if (growth && growth != argument && loop.isDefinedOutsideOfLoop(growth))
      blocks.push_back({argument, growth});
  }
  return blocks;
}

/// Replaces the block by init + (%i - %lower) / %step * growth.
void replaceBlock(scf::ForOp loop, BlockArgument block, Value growth) {
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  Location location = block.getLoc();
  Value each = emitScalar(builder, growth);
  if (!each)
    return;
  Value count = loop.getInductionVar();
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    count = arith::SubIOp::create(builder, location, count, loop.getLowerBound());
  if (!matchPattern(loop.getStep(), m_One()))
    count = arith::DivUIOp::create(builder, location, count, loop.getStep());
  unsigned have = count.getType().getIntOrFloatBitWidth(), wanted = each.getType().getIntOrFloatBitWidth();
  if (have < wanted)
    count = arith::ExtUIOp::create(builder, location, each.getType(), count);
  if (have > wanted)
    count = arith::TruncIOp::create(builder, location, each.getType(), count);
  Value distance = arith::MulIOp::create(builder, location, count, each);
  Value distances = SplatOp::create(builder, location, block.getType(), distance);
  Value init = loop.getTiedLoopInit(block)->get();
  block.replaceAllUsesWith(arith::AddIOp::create(builder, location, init, distances));
}

struct TileSimplifyInductions : tile::impl::TileSimplifyInductionsBase<TileSimplifyInductions> {
  using TileSimplifyInductionsBase::TileSimplifyInductionsBase;

  void runOnKernel() override {
    // All values are found before any is replaced, because the analysis caches its results by value.
    AxisInfoAnalysis facts(getOperation());
    AffineBlocks blocks(facts);
    SmallVector<std::pair<scf::ForOp, Inductions>> all;
    getOperation().walk([&](scf::ForOp loop) { all.push_back({loop, findInductions(loop, blocks)}); });
    for (auto &[loop, inductions] : all)
      for (auto [counter, distance] : inductions)
        replaceCounter(loop, counter, distance);
    for (auto &[loop, inductions] : all)
      for (auto [block, growth] : collectBlocks(loop))
        replaceBlock(loop, block, growth);
  }
};

} // namespace
