// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-add-warps: compute a chain of dots with two warp groups instead of one, if there are enough rows for two.
//
//   num_warps = 4                                          num_warps = 8
//   for:                                              ==>  for:
//     %s = tile.dot %q, %k : 128x64, 64x64                   …
//     %o = tile.dot (exp %s), %v, %o : 128x64, 64x128
//
// With one warp group, a block of 128 rows takes two MMAs of 64 rows, one after the other. The tensor cores then wait
// while threads compute the values that one dot takes from another, and accumulators of 128 columns already fill the
// registers. Two warp groups share all copies, and each has half of the accumulators. The program cannot observe how
// many warps run it.
//
// Kernels with one dot per iteration keep the requested number of warps, because several smaller CTAs hide as much
// latency. Kernels whose threads copy all operands also keep it, because more threads would wait for each other:
// attention's causal backward pass took 1.2 times as long with eight warps. Two warp groups are also used where one
// group's registers cannot hold the loop's accumulators. For example, two dots of 128 x 128, as in a gated layer, leave
// no register for anything else. The same holds for an accumulator of 128 x 128 that is combined with two blocks of
// that size after the loop, as in the backward pass of a gated layer. A CTA of one warp group would be alone on a
// multiprocessor, where nothing runs while it waits.
//
// Kernels of fewer than four warps get four where tcgen05 computes most of their dots: only a whole warp group reaches
// all lanes of tensor memory.
#include "Analysis/Dots/DotPlan.h"
#include "Analysis/Engines/EngineChoice.h"
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

/// Returns true if an operand of the dot is computed from another dot's result, in the same block.
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

/// Returns true if the value, or a value computed from it element by element, is a dot operand.
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

/// Counts the registers per thread, with one warp group, of blocks of `elements` elements that are loaded after loops
/// of dots and combined with the accumulators.
int64_t countBlocksOfEpilogue(KernelOp kernel, int64_t elements) {
  constexpr int64_t bytesOfRegister = 4;
  int64_t registers = 0;
  kernel.walk([&](Operation *op) {
    if (!isa<LoadOp, DescLoadOp>(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool isInSameLoop = llvm::any_of(op->getBlock()->getOps<LoopLikeOpInterface>(), [&](LoopLikeOpInterface loop) {
      return countCarriedAccumulators(loop, oneGroup) > 0;
    });
    if (type && type.getNumElements() == elements && isInSameLoop && !isMultiplied(op->getResult(0)))
      registers +=
          elements * getBytesInMemory(type.getElementType()) / bytesOfRegister / (oneGroup * target::threadsPerWarp);
  });
  return registers;
}

/// Returns true if tcgen05, which needs a warp group, would compute most of the multiply-adds of the kernel's dots.
bool gainsByGroup(KernelOp kernel, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Tcgen05))
    return false;
  EngineChooser chooser(gpu, oneGroup);
  int64_t terms = 0, others = 0;
  kernel.walk([&](DotOp dot) {
    bool isBuffered = isa<cta::BufferEngine>(Attribute(chooser.choose(dot)));
    (isBuffered ? terms : others) += dot.getType().getNumElements() * dot.getDepth();
  });
  return terms > others;
}

struct TileAddWarps : tile::impl::TileAddWarpsBase<TileAddWarps> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    if (kernel.getNumWarps() < oneGroup && gainsByGroup(kernel, gpu))
      kernel.setNumWarps(oneGroup);
    if (kernel.getNumWarps() != oneGroup || kernel.getPingPong())
      return;
    EngineChooser chooser(gpu, twoGroups, &getAnalysis<RaisableAccesses>());
    const target::Tuned &tuned = target::tunedOf(gpu);
    bool hasChain = false, hasRows = true, hasGroups = false, hasOthers = false, hasBlocks = false;
    int64_t accumulators = 0;
    kernel.walk([&](DotOp dot) {
      auto engine = dyn_cast<cta::BufferEngine>(Attribute(chooser.choose(dot)));
      hasRows &= !engine || engine.getGroupsN() == 1;
      (engine ? hasGroups : hasOthers) = true;
      hasBlocks |= engine && engine.readsBlocks();
      hasChain |= isa<LoopLikeOpInterface>(dot->getParentOp()) && isChained(dot);
    });
    kernel.walk([&](LoopLikeOpInterface loop) {
      accumulators = std::max(accumulators, countCarriedAccumulators(loop, oneGroup));
    });
    accumulators += countBlocksOfEpilogue(kernel, /*elements=*/accumulators * oneGroup * target::threadsPerWarp);
    bool isFull = accumulators > (hasChain ? tuned.chainAccumulatorRegisters : tuned.stepAccumulatorRegisters);
    if (hasRows && (isFull ? hasGroups : hasChain && hasBlocks && !hasOthers))
      kernel.setNumWarps(twoGroups);
  }
};

} // namespace
