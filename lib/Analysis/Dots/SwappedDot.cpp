// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines which dots can be swapped; see SwappedDot.h.
#include "Analysis/Dots/SwappedDot.h"

#include "Target/Plan/OperandOrders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

bool tile::isOnlyMultiplied(Value value, unsigned side) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<TransOp, ReshapeOp, cta::ConvertLayoutOp>(user))
      return isOnlyMultiplied(user->getResult(0), side);
    return isa<DotOp>(user) && use.getOperandNumber() == side;
  });
}

/// Returns true if the program loads a matrix of the accumulator's shape, such as a residual. Dot operands do not
/// count, because they stay in shared memory.
static bool hasLoadOfResultShape(DotOp dot) {
  WalkResult result = dot->getParentOfType<KernelOp>().walk([&](Operation *op) {
    auto type =
        isa<LoadOp, DescLoadOp>(op) ? dyn_cast<RankedTensorType>(op->getResultTypes().front()) : RankedTensorType();
    bool isSuch = type && dropLeadingOnes(type.getShape()) == dot.getAcc().getType().getShape() &&
                  !isOnlyMultiplied(op->getResult(0), 0) && !isOnlyMultiplied(op->getResult(0), 1);
    return isSuch ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool tile::gainsBySwap(DotOp dot) {
  return target::gainsBySwap(dot.getAcc().getType().getDimSize(0));
}

std::optional<SwapPlan> tile::planSwap(DotOp dot) {
  bool isOdd = !llvm::isPowerOf2_64(dot.getAcc().getType().getDimSize(0));
  Operation *left = traceOperand(dot.getA()).source;
  if (isOdd && (!left || !isOnlyMultiplied(left->getResult(0), 0) || hasLoadOfResultShape(dot)))
    return std::nullopt;
  auto constant = dot.getAcc().getDefiningOp<arith::ConstantOp>();
  if (constant && isa<SplatElementsAttr>(constant.getValue()))
    return SwapPlan{};
  auto acc = dyn_cast<BlockArgument>(dot.getAcc());
  auto loop = acc ? dyn_cast<scf::ForOp>(acc.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || acc.getArgNumber() == 0 || !acc.hasOneUse() || !dot->hasOneUse())
    return std::nullopt;
  unsigned index = acc.getArgNumber() - 1;
  if (loop.getYieldedValues()[index] != dot.getResult())
    return std::nullopt;
  return SwapPlan{loop, index};
}
