// Which products can be swapped; see SwappedDot.h.
#include "Analysis/SwappedDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

std::optional<SwapPlan> tile::planSwap(DotOp dot) {
  constexpr int64_t wgmmaRows = 64;
  int64_t rows = dot.getAcc().getType().getDimSize(0);
  if (rows >= wgmmaRows && llvm::isPowerOf2_64(rows))
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

bool tile::mayHaveOddSize(DotOp dot) {
  auto isLoaded = [](Value operand) { return isa_and_present<LoadOp, DescLoadOp>(traceOperand(operand).source); };
  bool hasOddRows = !llvm::isPowerOf2_64(dot.getAcc().getType().getDimSize(0));
  return isLoaded(dot.getA()) && isLoaded(dot.getB()) && (!hasOddRows || planSwap(dot));
}

bool tile::isForWarpGroups(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target,
                           unsigned numWarps) {
  if (planWarpGroups(dot, aTransposed, bTransposed, target, numWarps))
    return true;
  return planSwap(dot) && planWarpGroups(dot, aTransposed, bTransposed, target, numWarps, /*swapped=*/true);
}
