// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds block accesses whose order does not matter; see RaisableAccesses.h.
#include "Analysis/Engines/RaisableAccesses.h"

#include "Analysis/Addresses/PointerBases.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

RaisableAccesses::RaisableAccesses(Operation *op) : kernel(cast<KernelOp>(op)), pointers(kernel) {
  kernel.walk([&](Operation *op) {
    position[op] = position.size();
    waitsForOthers |= writesGlobalMemory(op) && !isa<StoreOp, DescStoreOp, AtomicRmwOp>(op);
  });
}

const BlockAccessResult &RaisableAccesses::get(LoadOp load) {
  auto [entry, isNew] = analyzed.try_emplace(load);
  if (isNew) {
    entry->second = pointers.analyze(load);
    if (entry->second.access && isPrecededByWrite(load))
      entry->second = {std::nullopt, "the program may have written memory before it"};
    if (entry->second.access && waitsForOthers)
      entry->second = {std::nullopt, "the program waits for other programs, so that no producer can run ahead"};
    if (entry->second.access && entry->second.access->isFromMemory() && !findPlace(load, *entry->second.access))
      entry->second = {std::nullopt, "its tensor map would be encoded in each iteration"};
  }
  return entry->second;
}

BlockAccessResult RaisableAccesses::get(StoreOp store) {
  BlockAccessResult result = pointers.analyze(store);
  if (result.access && hasToBeOrdered(store))
    result = {std::nullopt, "another access of the program may alias it"};
  return result;
}

Operation *RaisableAccesses::findPlace(LoadOp load, const BlockAccess &access) {
  SmallVector<Value> parts{access.base};
  for (const Polynomial &number : llvm::concat<const Polynomial>(access.shape, access.strides))
    for (const Polynomial::Term &term : number.getTerms())
      llvm::append_range(parts, term.factors);
  Operation *last = nullptr; // all parts dominate the load, so any two of them are ordered by dominance
  DominanceInfo dominance;
  for (Value part : parts)
    if (Operation *op = part.getDefiningOp(); op && (!last || dominance.properlyDominates(last, op)))
      last = op;
  auto loop = load->getParentOfType<LoopLikeOpInterface>();
  bool isOutside = last && loop && !loop->isAncestor(last);
  return isOutside ? last : nullptr;
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

/// Returns true if `first` may run before `second`: they have a common loop, or `first` comes first in program order.
bool RaisableAccesses::mayRunBefore(Operation *first, Operation *second) {
  for (Operation *loop = first->getParentOp(); loop != kernel; loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop) && loop->isAncestor(second))
      return true;
  return position[first] < position[second];
}

/// Returns true if `op` may write to `memory`. Operations other than stores may also wait for other programs or have
/// unknown effects.
static bool mayWrite(Operation *op, const PointerBases &memory) {
  return isa<StoreOp>(op) ? PointerBases::writtenBy(op).mayOverlap(memory) : writesGlobalMemory(op);
}

static bool mayRead(Operation *op, const PointerBases &memory) {
  if (auto load = dyn_cast<LoadOp>(op))
    return PointerBases::of(load.getPtr()).mayOverlap(memory);
  return isa<DescLoadOp>(op);
}

bool RaisableAccesses::isPrecededByWrite(LoadOp load) {
  auto memory = PointerBases::of(load.getPtr());
  WalkResult result = kernel.walk([&](Operation *op) {
    return mayWrite(op, memory) && mayRunBefore(op, load) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Returns true if the store must be ordered before a read, or before or after another write. (cta-insert-waits orders
/// the store with its own executions in later iterations.)
bool RaisableAccesses::hasToBeOrdered(StoreOp store) {
  auto memory = PointerBases::of(store.getPtr());
  WalkResult result = kernel.walk([&](Operation *op) {
    if (op == store)
      return WalkResult::advance();
    bool writes = mayWrite(op, memory);
    bool conflicts =
        ((writes || mayRead(op, memory)) && mayRunBefore(store, op)) || (writes && mayRunBefore(op, store));
    return conflicts ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}
