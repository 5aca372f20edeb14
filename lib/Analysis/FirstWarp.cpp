// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A walk over what follows from a load, also across the iterations of loops. A number is the same in all lanes of a
// warp, and stored by the first thread; tensors that warps repeat are stored by the first of these.
#include "Analysis/FirstWarp.h"

#include "Analysis/CarriedValue.h"
#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Bits of the warp's number that make no difference for its elements, of a tensor; all for a number.
static uint64_t findRepeatingBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  uint64_t bits = ~uint64_t(0);
  if (tensor)
    for (auto [bit, basis] : llvm::enumerate(cta::getLayout(tensor).flatBases(layout::warpDim)))
      if (basis != 0)
        bits &= ~(uint64_t(1) << bit);
  return bits;
}

/// Whether lanes of a warp compute it, each or together, from what they hold.
static bool isOfEachWarp(Operation *op) {
  bool isKnown = isElementwise(op) || isa<ScanOp, ReduceOp, SplatOp, ExpandDimsOp, BroadcastOp>(op);
  return isKnown && isMemoryEffectFree(op);
}

bool tile::isRepeatedForNothing(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || cta::getLayout(type).hasBroadcast(layout::laneDim) ||
      !cta::getLayout(type).hasBroadcast(layout::warpDim))
    return false;
  const uint64_t bits = findRepeatingBits(type);
  llvm::SetVector<Value> values;
  values.insert(load.getResult());
  for (size_t index = 0; index < values.size(); ++index) {
    if ((findRepeatingBits(values[index].getType()) & bits) != bits)
      return false;
    for (OpOperand &use : values[index].getUses()) {
      Operation *user = use.getOwner();
      if (auto store = dyn_cast<StoreOp>(user)) {
        if ((findRepeatingBits(store.getPtr().getType()) & bits) != bits)
          return false;
      } else if (std::optional<CarriedValue> carried = CarriedValue::fedBy(use)) {
        values.insert(carried->values.begin(), carried->values.end());
      } else if (isOfEachWarp(user)) {
        values.insert(user->result_begin(), user->result_end());
      } else {
        return false;
      }
    }
  }
  return true;
}
