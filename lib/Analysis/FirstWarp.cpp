// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A walk over what follows from a load, also across the iterations of loops. A number is the same in all lanes, and
// tensors of which each warp has all elements are stored by the first: so there no other warp's value counts.
#include "Analysis/FirstWarp.h"

#include "Analysis/CarriedValue.h"
#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Numbers are in every warp, too.
static bool isInEveryWarp(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor ||
         llvm::all_of(cta::getLayout(tensor).flatBases(layout::warpDim), [](uint64_t basis) { return basis == 0; });
}

/// Whether lanes of a warp compute it, each or together, from what they hold.
static bool isOfOneWarp(Operation *op) {
  bool isKnown = isElementwise(op) || isa<ScanOp, ReduceOp, SplatOp, ExpandDimsOp, BroadcastOp>(op);
  return isKnown && isMemoryEffectFree(op) && llvm::all_of(op->getResultTypes(), isInEveryWarp);
}

bool tile::isForFirstWarp(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || !isInEveryWarp(type) || cta::getLayout(type).hasBroadcast(layout::laneDim) ||
      load->getParentOfType<KernelOp>().getNumWarps() == 1)
    return false;
  llvm::SetVector<Value> values;
  values.insert(load.getResult());
  for (size_t index = 0; index < values.size(); ++index)
    for (OpOperand &use : values[index].getUses()) {
      Operation *user = use.getOwner();
      if (auto store = dyn_cast<StoreOp>(user); store && isInEveryWarp(store.getValue().getType()))
        continue;
      if (std::optional<CarriedValue> carried = CarriedValue::fedBy(use); carried)
        values.insert(carried->values.begin(), carried->values.end());
      else if (isOfOneWarp(user))
        values.insert(user->result_begin(), user->result_end());
      else
        return false;
    }
  return true;
}
