// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the effects of an operation on buffers; see SharedAccesses.h.
#include "Analysis/SharedMemory/SharedAccesses.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

SmallVector<SharedAccess, 2> tile::getSharedAccesses(Operation *op) {
  SmallVector<SharedAccess, 2> accesses;
  // Most operations take no buffer; this check is cheaper than querying their effects.
  if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<cta::BufferType>))
    return accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value value = effect.getValue();
    bool isOrdered = isa<cta::SharedMemory, cta::CopiedMemory>(effect.getResource());
    if (value && isa<cta::BufferType>(value.getType()) && isOrdered)
      accesses.push_back(
          {value, isa<MemoryEffects::Write>(effect.getEffect()), isa<cta::CopiedMemory>(effect.getResource())});
  }
  return accesses;
}

bool tile::awaitsAllWgmmas(Operation *op) {
  auto mma = dyn_cast<cta::WgmmaOp>(op);
  auto wait = dyn_cast<cta::WgmmaWaitOp>(op);
  return (mma && mma.isSynchronous()) || (wait && wait.getPending() == 0);
}
