// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the lifetimes of operands in shared memory; see OperandBytes.h.
#include "Analysis/Dots/OperandBytes.h"

#include "Analysis/Flow/Recreate.h"
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;

/// Returns the last operation in the value's block that uses the value, possibly transposed; null if a use is outside
/// the block, for example in the next iteration.
static Operation *findLastUse(Value value) {
  Operation *last = nullptr;
  SmallVector<Value> values{value};
  for (size_t index = 0; index < values.size(); ++index)
    for (Operation *user : values[index].getUsers()) {
      if (isa<TransOp, ReshapeOp, cta::ConvertLayoutOp>(user))
        values.push_back(user->getResult(0));
      Operation *ancestor = value.getParentBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor->hasTrait<OpTrait::IsTerminator>())
        return nullptr;
      if (!last || last->isBeforeInBlock(ancestor))
        last = ancestor;
    }
  return last;
}

/// Returns true if the buffer of `outer` is live where `inner` is stored.
static bool isLiveAt(Value outer, Value inner) {
  Operation *first = outer.getDefiningOp(), *place = inner.getDefiningOp(), *last = findLastUse(outer);
  if (outer == inner || outer.getParentBlock() != inner.getParentBlock() || !place || !last)
    return true;
  return (!first || first->isBeforeInBlock(place)) && place->isBeforeInBlock(last);
}

int64_t tile::countOperandBytes(ArrayRef<Value> stored, bool freesUsed) {
  int64_t most = 0;
  for (Value inner : stored) {
    int64_t bytes = 0;
    for (Value outer : stored)
      if (outer.getParentRegion()->isAncestor(inner.getParentRegion()) && (!freesUsed || isLiveAt(outer, inner)))
        bytes += LayoutSlicer::bytesOf(outer);
    most = std::max(most, bytes);
  }
  return most;
}
