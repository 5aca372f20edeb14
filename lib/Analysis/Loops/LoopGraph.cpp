// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the nodes and edges of a loop body's graph; see LoopGraph.h.
#include "Analysis/Loops/LoopGraph.h"

#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Target/Tuned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

SetVector<Value> tile::getUsedValues(Operation *op) {
  SetVector<Value> used;
  op->walk([&](Operation *inner) { used.insert_range(inner->getOperands()); });
  return used;
}

/// Returns the allocations of the shared memory that an operation accesses, including its regions.
static SmallVector<Operation *> getBuffers(Operation *op) {
  SmallVector<Operation *> buffers;
  op->walk([&](Operation *inner) {
    for (const SharedAccess &access : getSharedAccesses(inner))
      buffers.push_back(getMemory(access.buffer));
    if (auto load = dyn_cast<cta::TmaLoadSyncOp>(inner))
      buffers.push_back(getMemory(load.getBuffer()));
  });
  return buffers;
}

bool LoopGraph::build() {
  for (Operation &op : body->without_terminator()) {
    indices[&op] = operations.size();
    operations.push_back(&op);
  }
  nodes.resize(operations.size());
  unsigned mmas = 0;
  for (auto [index, op] : llvm::enumerate(operations)) {
    nodes[index].kind = findKind(op);
    mmas += nodes[index].kind == LoopNodeKind::mma;
    if (!addValues(index) || !addMemory(index))
      return false;
  }
  return mmas > 0;
}

std::optional<unsigned> LoopGraph::getArgument(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!loop || !argument || argument.getOwner() != body || argument.getArgNumber() == 0)
    return std::nullopt;
  return argument.getArgNumber() - 1;
}

std::optional<unsigned> LoopGraph::getNode(Value value) const {
  auto found = indices.find(value.getDefiningOp());
  return found == indices.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> LoopGraph::getSource(Value value) const {
  scf::ForOp around = loop;
  // The limit ends the search if iteration arguments replace each other in a cycle.
  for (unsigned steps = 0; around && steps <= around.getNumRegionIterArgs(); ++steps) {
    std::optional<unsigned> argument = getArgument(value);
    if (!argument)
      return getNode(value);
    value = around.getYieldedValues()[*argument];
  }
  return getNode(value);
}

bool LoopGraph::writesShared(unsigned index) const {
  auto writes = [](Operation *op) {
    return isa<cta::TmaLoadSyncOp>(op) ||
                   llvm::any_of(getSharedAccesses(op), [](const SharedAccess &access) { return access.isWrite; })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return operations[index]->walk(writes).wasInterrupted();
}

/// If each iteration accesses the next slot of the buffer, wrapping around after the last slot, returns the slot that
/// `op` accesses in the first iteration; otherwise nullopt.
static std::optional<int64_t> findFirstSlot(scf::ForOp loop, Operation *op, Operation *buffer) {
  std::optional<int64_t> first;
  for (const SharedAccess &access : getSharedAccesses(op)) {
    if (getMemory(access.buffer) != buffer)
      continue;
    Value view = access.buffer;
    while (auto trans = view.getDefiningOp<cta::TransBufferOp>())
      view = trans.getBuffer();
    auto slot = view.getDefiningOp<cta::SlotOp>();
    auto counter = slot ? dyn_cast<BlockArgument>(slot.getIndex()) : BlockArgument();
    if (!counter || counter.getOwner() != loop.getBody() || counter == loop.getInductionVar() || first)
      return std::nullopt;
    auto next = loop.getTiedLoopYieldedValue(counter)->get().getDefiningOp<cta::NextSlotOp>();
    std::optional<int64_t> init = getConstantIntValue(loop.getTiedLoopInit(counter)->get());
    if (!init || !next || next.getIndex() != counter || next.getSlots() != slot.getBuffer().getType().getSlots())
      return std::nullopt;
    first = *init;
  }
  return first;
}

bool LoopGraph::mayShareSlot(unsigned first, unsigned second, Operation *buffer, unsigned iterations) const {
  auto alloc = dyn_cast<cta::AllocOp>(buffer);
  if (!loop || !alloc)
    return true;
  std::optional<int64_t> a = findFirstSlot(loop, operations[first], buffer),
                         b = findFirstSlot(loop, operations[second], buffer);
  return !a || !b || (*b + iterations - *a) % alloc.getType().getSlots() == 0;
}

LoopNodeKind LoopGraph::findKind(Operation *op) {
  if (isa<cta::WgmmaOp>(op))
    return LoopNodeKind::mma;
  if (isa<cta::AwaitOp>(op))
    return LoopNodeKind::await;
  if (isa<cta::RingWaitOp>(op))
    return LoopNodeKind::light;
  if (auto release = dyn_cast<cta::RingReleaseOp>(op))
    return release.getCondition() ? LoopNodeKind::other : LoopNodeKind::release;
  if (auto load = dyn_cast<LoadOp>(op)) {
    const int64_t fewRegisters = target::tunedOf(cta::getTarget(op)).lightLoadRegisters;
    auto type = dyn_cast<RankedTensorType>(load.getType());
    bool isSmall = !type || countRegisters(type) <= fewRegisters;
    return load.getIsVolatile() ? LoopNodeKind::order : isSmall ? LoopNodeKind::load : LoopNodeKind::other;
  }
  if (isa<cta::LocalLoadOp, cta::LocalStoreOp>(op))
    return LoopNodeKind::other;
  if (!isMemoryEffectFree(op))
    return LoopNodeKind::order;
  bool isView = isa<cta::SlotOp, cta::RingBuffersOp, cta::TransBufferOp, BroadcastOp, ExpandDimsOp, SplatOp>(op);
  bool isNumber = op->getNumRegions() == 0 && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  return isView || isNumber ? LoopNodeKind::light : LoopNodeKind::other;
}

void LoopGraph::need(unsigned index, unsigned other) {
  if (!llvm::is_contained(nodes[index].needs, other))
    nodes[index].needs.push_back(other);
}

bool LoopGraph::addValues(unsigned index) {
  Operation *op = operations[index];
  for (Value value : getUsedValues(op)) {
    if (std::optional<unsigned> node = getNode(value); node && *node != index)
      need(index, *node);
    if (std::optional<unsigned> node = getArgument(value) ? getSource(value) : std::nullopt)
      nodes[index].needsPrevious.push_back(*node);
  }
  if (auto mma = dyn_cast<cta::WgmmaOp>(op)) {
    // Each MMA must be awaited exactly once, in its own iteration.
    if (mma.isSynchronous() || !mma.getResult().hasOneUse() || !isa<cta::AwaitOp>(*mma.getResult().user_begin()) ||
        mma.getResult().user_begin()->getBlock() != body)
      return false;
    if (!mma.getBufferA())
      nodes[index].leftOperand = getNode(mma.getA());
    nodes[index].accumulates = accumulates(mma);
  }
  if (auto await = dyn_cast<cta::AwaitOp>(op)) {
    auto mma = await.getAcc().getDefiningOp<cta::WgmmaOp>();
    return mma && mma.getToken() == await.getToken() && getNode(await.getAcc()).has_value();
  }
  return true;
}

bool LoopGraph::accumulates(cta::WgmmaOp mma) const {
  std::optional<unsigned> argument = getArgument(mma.getAcc());
  Value awaited = cast<cta::AwaitOp>(*mma.getResult().user_begin()).getResult();
  scf::ForOp around = loop;
  auto load = mma.getA().getDefiningOp<cta::LocalLoadOp>();
  bool isRead = mma.getBufferA() || (load && load->getBlock() == body);
  return argument && isRead && mma.getAcc().hasOneUse() && awaited.hasOneUse() &&
         around.getYieldedValues()[*argument] == awaited;
}

unsigned LoopGraph::getEnd(unsigned index) const {
  auto mma = dyn_cast<cta::WgmmaOp>(operations[index]);
  return mma ? indices.lookup(*mma.getResult().user_begin()) : index;
}

bool LoopGraph::addMemory(unsigned index) {
  Operation *op = operations[index];
  LoopNodeKind kind = nodes[index].kind;
  if (writesGlobalMemory(op) && kind != LoopNodeKind::order)
    return false;
  auto needEarlier = [&](llvm::function_ref<bool(Operation *)> condition) {
    for (unsigned other = 0; other < index; ++other)
      if (condition(operations[other])) {
        need(index, other);
        // MMAs read their operands until they are awaited.
        if (unsigned end = getEnd(other); end < index && !isa<cta::WgmmaOp>(op))
          need(index, end);
      }
  };
  if (kind == LoopNodeKind::order)
    needEarlier([](Operation *other) { return !isMemoryEffectFree(other); });
  else if (!isMemoryEffectFree(op))
    needEarlier([&](Operation *other) { return nodes[indices[other]].kind == LoopNodeKind::order; });
  if (auto release = dyn_cast<cta::RingReleaseOp>(op))
    needEarlier(
        [&](Operation *other) { return llvm::is_contained(getBuffers(other), release.getRing().getDefiningOp()); });
  // Slots are taken in program order.
  if (auto wait = dyn_cast<cta::RingWaitOp>(op))
    needEarlier([&](Operation *other) {
      auto before = dyn_cast<cta::RingWaitOp>(other);
      return before && before.getRing() == wait.getRing();
    });
  addBuffers(index);
  return true;
}

void LoopGraph::addBuffers(unsigned index) {
  Operation *op = operations[index];
  for (Operation *buffer : getBuffers(op)) {
    // Accesses to a ring's slot need no edges: they use the view of the slot, which already depends on the ring_wait.
    if (isa_and_nonnull<cta::RingAllocOp>(buffer))
      continue;
    for (unsigned other : accesses[buffer]) {
      if (!writesShared(index) && !writesShared(other))
        continue;
      need(index, other);
      if (!isa<cta::WgmmaOp>(op) && getEnd(other) < index)
        need(index, getEnd(other));
    }
    accesses[buffer].push_back(index);
  }
}
