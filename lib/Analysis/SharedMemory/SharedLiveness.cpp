// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes live ranges of buffers in shared memory. They are intervals of accesses, extended by loops and by copies and
// wgmmas in flight.
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Analysis/Flow/StructuredFlow.h"
#include "Analysis/SharedMemory/SharedAccesses.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

Operation *tile::getMemory(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  while (isa_and_nonnull<cta::SlotOp, cta::TransBufferOp, cta::RingBuffersOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<cta::AllocOp, cta::RingAllocOp>(op) ? op : nullptr;
}

cta::AllocOp tile::getAlloc(Value buffer) {
  return dyn_cast_or_null<cta::AllocOp>(getMemory(buffer));
}

namespace {

/// Buffers that copies may still be writing, and buffers that wgmmas may still be reading.
struct Running {
  using Buffers = llvm::SmallSetVector<Operation *, 4>;
  /// Destinations of copies by the age of their group: of those that are not committed yet, of the last committed
  /// group, of the one before it, and so on.
  SmallVector<Buffers, 4> copies{1};
  Buffers mmas;

  /// Counts at most this many groups; the last one also has those before it.
  static constexpr size_t maxGroups = 16;

  void commit() {
    copies.insert(copies.begin(), Buffers());
    if (copies.size() > maxGroups) {
      copies[maxGroups - 1].insert_range(copies.back());
      copies.pop_back();
    }
  }

  /// Waits until at most the last `pending` groups are incomplete.
  void wait(size_t pending) {
    if (pending + 1 < std::min(copies.size(), maxGroups))
      copies.resize(pending + 1);
  }

  size_t size() const {
    size_t result = mmas.size();
    for (const Buffers &group : copies)
      result += group.size();
    return result;
  }

  bool join(const Running &other) {
    size_t before = size();
    copies.resize(std::max(copies.size(), other.copies.size()));
    for (auto [group, buffers] : llvm::enumerate(other.copies))
      copies[group].insert_range(buffers);
    mmas.insert_range(other.mmas);
    return size() != before;
  }
};

class Liveness {
public:
  explicit Liveness(KernelOp kernel) : kernel(kernel) {}

  SmallVector<BufferLife> run() {
    unsigned next = 0;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      starts[op] = next++;
      if (auto alloc = dyn_cast<cta::AllocOp>(op))
        lives[alloc] = {alloc, ~0u, 0};
    });
    computeEnds(kernel);
    kernel.walk([&](Operation *op) { extendByAccesses(op); });
    extendByRunning();
    SmallVector<BufferLife> result;
    for (auto &[alloc, life] : lives) {
      // An unused buffer also gets an offset, because its allocation is still in the IR.
      if (life.first > life.last)
        life.first = life.last = starts[alloc];
      result.push_back(life);
    }
    return result;
  }

private:
  /// Computes the last position inside `op` and inside each nested operation.
  unsigned computeEnds(Operation *op) {
    unsigned end = starts[op];
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &nested : block)
          end = computeEnds(&nested);
    return ends[op] = end;
  }

  void extend(Operation *alloc, unsigned first, unsigned last) {
    BufferLife &life = lives[alloc];
    life.first = std::min(life.first, first);
    life.last = std::max(life.last, last);
  }

  void extendByAccesses(Operation *op) {
    if (isa<cta::SlotOp, cta::TransBufferOp>(op))
      return;
    // A copy to global memory continues until a wait; there is one before the end of the kernel at the latest.
    bool toTheEnd = llvm::any_of(getSharedAccesses(op),
                                 [](const SharedAccess &access) { return access.isAsync && !access.isWrite; });
    for (Value operand : op->getOperands()) {
      if (!isa<cta::BufferType>(operand.getType()))
        continue;
      cta::AllocOp alloc = getAlloc(operand);
      assert(alloc && "every buffer has an allocation");
      Operation *outermost = op;
      for (Operation *loop = op->getParentOp(); !loop->isAncestor(alloc); loop = loop->getParentOp())
        if (isa<LoopLikeOpInterface, cta::WarpRolesOp>(loop))
          outermost = loop;
      // A faster CTA of the cluster may write before this CTA reaches the operation, and no barrier follows the last
      // read.
      if (isa<cta::ClusterSumOp>(op))
        outermost = kernel;
      extend(alloc, starts[outermost], toTheEnd ? ends[kernel] : ends[outermost]);
    }
  }

  void extendByRunning() {
    Running none;
    flowThrough<Running>(kernel.getBody().front(), none, [&](Operation *op, Running &running) {
      for (const Running::Buffers &group : running.copies)
        for (Operation *alloc : group)
          extend(alloc, starts[op], starts[op]);
      for (Operation *alloc : running.mmas)
        extend(alloc, starts[op], starts[op]);
      for (const SharedAccess &access : getSharedAccesses(op))
        if (access.isAsync && access.isWrite)
          running.copies.front().insert(getAlloc(access.buffer));
        else if (isa<cta::WgmmaOp>(op))
          running.mmas.insert(getAlloc(access.buffer));
      if (isa<cta::AsyncCommitOp>(op))
        running.commit();
      if (auto wait = dyn_cast<cta::AsyncWaitOp>(op))
        running.wait(wait.getPending());
      // A wait that leaves some groups pending may leave any wgmma running.
      if (awaitsAllWgmmas(op))
        running.mmas.clear();
    });
  }

  KernelOp kernel;
  DenseMap<Operation *, unsigned> starts, ends;
  llvm::MapVector<Operation *, BufferLife> lives;
};

} // namespace

SmallVector<BufferLife> tile::findBufferLives(KernelOp kernel) {
  return Liveness(kernel).run();
}
