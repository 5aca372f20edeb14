// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-add-warps: compute a chain of products with two warp groups instead of one, where there are rows for both.
//
//   num_warps = 4                                          num_warps = 8
//   for:                                              ==>  for:
//     %s = tile.dot %q, %k : 128x64, 64x64                   …
//     %o = tile.dot (exp %s), %v, %o : 128x64, 64x128
//
// One warp group computes two times 64 rows one after the other, in one thread's registers: what one product needs of
// another is then computed while the tensor cores wait, and accumulators of 128 columns already fill the registers. Two
// share all that is copied, and each has half of the accumulators. How many warps run a program, the program cannot
// see. Kernels with one product a step keep the number that they ask for: there more CTAs hide as much; and so do those
// whose threads copy all operands, and would have to wait for more of each other: attention's causal backward pass took
// 1.2 times as long in a compiler that gave it eight. But not where one group's registers cannot hold what a loop sums:
// two products of 128 x 128, as of a gated layer, leave none for anything else; nor do 128 x 128 sums and two such
// blocks that they are multiplied with after the loop, as in its backward pass: one CTA of one warp group would be
// alone on a multiprocessor, where nothing runs while it waits.
#include "Analysis/DotPlan.h"
#include "Analysis/EngineChoice.h"
#include "Cta/CtaDialect.h"
#include "Target/Tuned.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEADDWARPS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned oneGroup = target::warpsPerGroup, twoGroups = 2 * oneGroup; // warps

/// Whether a factor of the dot is computed of another dot's result, in the same block.
bool isChained(DotOp dot) {
  SmallVector<Value> worklist{dot.getA(), dot.getB()};
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock() || !seen.insert(op).second)
      continue;
    if (isa<DotOp>(op))
      return true;
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// Whether a product takes the value, or what is computed of it element by element.
bool isMultiplied(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t index = 0; index < values.size(); ++index)
    for (Operation *user : values[index].getUsers()) {
      if (isa<DotOp>(user))
        return true;
      if (isElementwise(user) || isa<ShapeChange>(user))
        values.insert_range(user->getResults());
    }
  return false;
}

/// Registers of a thread of one warp group for blocks of `elements` that are loaded after the loops of products, and
/// combined with what these have summed.
int64_t countBlocksOfEpilogue(KernelOp kernel, int64_t elements) {
  constexpr int64_t bytesOfRegister = 4;
  int64_t registers = 0;
  kernel.walk([&](Operation *op) {
    if (!isa<LoadOp, DescLoadOp>(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool isBeside = llvm::any_of(op->getBlock()->getOps<LoopLikeOpInterface>(),
                                 [&](LoopLikeOpInterface loop) { return countCarriedSums(loop, oneGroup) > 0; });
    if (type && type.getNumElements() == elements && isBeside && !isMultiplied(op->getResult(0)))
      registers +=
          elements * getBytesInMemory(type.getElementType()) / bytesOfRegister / (oneGroup * target::threadsPerWarp);
  });
  return registers;
}

struct TileAddWarps : tile::impl::TileAddWarpsBase<TileAddWarps> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    if (kernel.getNumWarps() != oneGroup || kernel.getPingPong())
      return;
    EngineChooser chooser(gpu, twoGroups, &getAnalysis<RaisableAccesses>());
    const target::Tuned &tuned = target::tunedOf(gpu);
    bool hasChain = false, hasRows = true, hasGroups = false, hasOthers = false, hasBlocks = false;
    int64_t sums = 0;
    kernel.walk([&](DotOp dot) {
      auto engine = dyn_cast<cta::WgmmaAttr>(chooser.choose(dot));
      hasRows &= !engine || engine.getGroupsN() == 1;
      (engine ? hasGroups : hasOthers) = true;
      hasBlocks |= engine && engine.readsBlocks();
      hasChain |= isa<LoopLikeOpInterface>(dot->getParentOp()) && isChained(dot);
    });
    kernel.walk([&](LoopLikeOpInterface loop) { sums = std::max(sums, countCarriedSums(loop, oneGroup)); });
    sums += countBlocksOfEpilogue(kernel, /*elements=*/sums * oneGroup * target::threadsPerWarp);
    bool isFull = sums > (hasChain ? tuned.chainAccumulatorRegisters : tuned.stepAccumulatorRegisters);
    if (hasRows && (isFull ? hasGroups : hasChain && hasBlocks && !hasOthers))
      kernel.setNumWarps(twoGroups);
  }
};

} // namespace
