// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether TMA and wgmma support a block whose sizes are not powers of two; see OddBlocks.h.
#include "Analysis/Engines/OddBlocks.h"

#include "Analysis/Dots/PaddedBlocks.h"
#include "Analysis/Dots/SwappedDot.h"
#include "Analysis/Engines/EngineChoice.h"

using namespace mlir;
using namespace tile;

bool tile::mayHaveOddSize(DotOp dot) {
  Operation *left = traceOperand(dot.getA()).source, *right = traceOperand(dot.getB()).source;
  bool areLoaded = isa_and_present<LoadOp, DescLoadOp>(left) && isa_and_present<LoadOp, DescLoadOp>(right);
  if (!areLoaded)
    return false;
  ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
  if (!llvm::isPowerOf2_64(shape[0]) && !planSwap(dot))
    return false;
  return llvm::isPowerOf2_64(shape[1]) || isOnlyMultiplied(right->getResult(0), 1);
}

static bool isPadded(MakeDescOp desc) {
  ArrayRef<int64_t> block = desc.getType().getShape();
  return block != ArrayRef(getPaddedShape(block));
}

/// Returns true if the block is used only as the right operand of wgmma.
static bool isRightOperand(DescLoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  WalkResult result = kernel.walk([&](DotOp dot) {
    cta::BufferEngine engine = getEngineOfBlocks(dot);
    bool isRight = traceOperand(dot.getB()).source == load;
    bool fits = !isRight ||
                (isa_and_present<DescLoadOp>(traceOperand(dot.getA()).source) && engine && !engine.isFromRegisters() &&
                 !engine.getSwapped() && engine.getSourceB() == target::OperandSource::Tma);
    return fits ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOnlyMultiplied(load.getResult(), 1) && !result.wasInterrupted();
}

bool tile::needsNoPadding(MakeDescOp desc) {
  if (!isPadded(desc))
    return true;
  constexpr int64_t step = 16; // size of the parts, in columns or rows, in which a block is written
  ArrayRef<int64_t> block = dropLeadingOnes(desc.getType().getShape());
  auto isCut = [&](unsigned axis) { return llvm::isPowerOf2_64(block[1 - axis]) && block[axis] % step == 0; };
  bool isWritten = block.size() == 2 && (isCut(0) || isCut(1));
  return llvm::all_of(desc->getUsers(), [&](Operation *user) {
    auto load = dyn_cast<DescLoadOp>(user);
    return load ? isRightOperand(load) : isWritten;
  });
}

SmallVector<MakeDescOp> tile::findUnpaired(ArrayRef<MakeDescOp> withMaps) {
  SmallVector<MakeDescOp> unpaired;
  if (withMaps.empty())
    return unpaired;
  auto hasMap = [&](Value desc) {
    return isa<BlockArgument>(desc) || llvm::is_contained(withMaps, desc.getDefiningOp<MakeDescOp>());
  };
  MakeDescOp first = withMaps.front();
  first->getParentOfType<KernelOp>().walk([&](DotOp dot) {
    auto left = dyn_cast_or_null<DescLoadOp>(traceOperand(dot.getA()).source);
    auto right = dyn_cast_or_null<DescLoadOp>(traceOperand(dot.getB()).source);
    auto desc = right ? right.getDesc().getDefiningOp<MakeDescOp>() : MakeDescOp();
    if (desc && isPadded(desc) && hasMap(desc) && !(left && hasMap(left.getDesc())) &&
        !llvm::is_contained(unpaired, desc))
      unpaired.push_back(desc);
  });
  return unpaired;
}
