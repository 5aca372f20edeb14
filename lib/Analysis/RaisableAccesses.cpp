// Block accesses that need no order; see RaisableAccesses.h.
#include "Analysis/RaisableAccesses.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

RaisableAccesses::RaisableAccesses(Operation *op) : kernel(cast<KernelOp>(op)), pointers(kernel) {
  kernel.walk([&](Operation *op) { position[op] = position.size(); });
}

const BlockAccessResult &RaisableAccesses::get(LoadOp load) {
  auto [entry, isNew] = analyzed.try_emplace(load);
  if (isNew) {
    entry->second = pointers.analyze(load);
    if (entry->second.access && isPrecededByWrite(load))
      entry->second = {std::nullopt, "the program may have written memory before it"};
  }
  return entry->second;
}

BlockAccessResult RaisableAccesses::get(StoreOp store) {
  BlockAccessResult result = pointers.analyze(store);
  if (result.access && hasToBeOrdered(store))
    result = {std::nullopt, "another access of the program may touch the same memory"};
  return result;
}

bool RaisableAccesses::mayComeByTma(const SharedOperand &operand) {
  auto load = dyn_cast_if_present<LoadOp>(operand.source);
  return isa_and_present<DescLoadOp>(operand.source) || (load && get(load).access);
}

bool RaisableAccesses::isReadTransposed(const SharedOperand &operand) {
  auto load = dyn_cast_if_present<LoadOp>(operand.source);
  bool swapped = load && get(load).access && !llvm::is_sorted(get(load).access->order);
  return operand.transposed != swapped;
}

/// In some iteration of a common loop, or else in program order.
bool RaisableAccesses::mayRunBefore(Operation *first, Operation *second) {
  for (Operation *loop = first->getParentOp(); loop != kernel; loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop) && loop->isAncestor(second))
      return true;
  return position[first] < position[second];
}

bool RaisableAccesses::isPrecededByWrite(LoadOp load) {
  WalkResult result = kernel.walk([&](Operation *op) {
    return writesGlobalMemory(op) && mayRunBefore(op, load) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Before a read, or with another write or one of a later iteration.
bool RaisableAccesses::hasToBeOrdered(StoreOp store) {
  WalkResult result = kernel.walk([&](Operation *op) {
    bool writes = writesGlobalMemory(op), reads = isa<LoadOp, DescLoadOp>(op);
    bool conflicts = ((writes || reads) && mayRunBefore(store, op)) || (writes && mayRunBefore(op, store));
    return conflicts ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}
