// Which accesses to shared memory need a barrier between them.
//
// Forward data flow of the accesses that are pending since the last barrier, as byte ranges, because buffers share
// memory. Walking a loop, barriers are chosen before all pending accesses of the previous iteration are known; so at
// the end each chosen barrier is dropped again if no hazard appears without it.
#include "Analysis/SharedHazards.h"
#include "Analysis/SharedLiveness.h"
#include "Analysis/StructuredFlow.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// Bytes from `first` (included) to `last` (excluded) of the CTA's shared memory.
using Bytes = std::pair<int64_t, int64_t>;

Bytes getBytes(Value buffer) {
  cta::AllocOp alloc = getAlloc(buffer);
  // All slots: which one is used is known at run time only.
  int64_t first = *alloc.getOffset();
  return {first, first + alloc.getType().getBytes()};
}

struct ByteSet {
  llvm::SmallSetVector<Bytes, 4> ranges;

  bool overlaps(Bytes bytes) const {
    return llvm::any_of(ranges, [&](Bytes other) { return other.first < bytes.second && bytes.first < other.second; });
  }
  bool join(const ByteSet &other) {
    size_t before = ranges.size();
    ranges.insert_range(other.ranges);
    return ranges.size() != before;
  }
};

/// Accesses that some thread may still have to do.
struct Pending {
  ByteSet reads, writes;
  ByteSet copies; ///< Asynchronous copies that no wait has covered for certain.

  bool join(const Pending &other) {
    bool newReads = reads.join(other.reads), newWrites = writes.join(other.writes);
    return copies.join(other.copies) || newReads || newWrites;
  }
  void passBarrier() {
    reads.ranges.clear();
    writes.ranges.clear();
  }
};

struct Accesses {
  SmallVector<Bytes, 2> reads, writes;

  explicit Accesses(Operation *op) {
    if (auto store = dyn_cast<cta::LocalStoreOp>(op))
      writes.push_back(getBytes(store.getBuffer()));
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
      writes.push_back(getBytes(copy.getBuffer()));
    if (auto load = dyn_cast<cta::LocalLoadOp>(op))
      reads.push_back(getBytes(load.getBuffer()));
    if (auto dot = dyn_cast<cta::FmaDotOp>(op))
      reads = {getBytes(dot.getA()), getBytes(dot.getB())};
    if (auto dot = dyn_cast<cta::WgmmaOp>(op))
      reads = {getBytes(dot.getA()), getBytes(dot.getB())};
    if (auto store = dyn_cast<cta::TmaStoreOp>(op))
      reads.push_back(getBytes(store.getBuffer()));
  }

  bool conflictWith(const Pending &pending) const {
    auto isRead = [&](Bytes bytes) { return pending.reads.overlaps(bytes); };
    auto isWritten = [&](Bytes bytes) { return pending.writes.overlaps(bytes); };
    return llvm::any_of(reads, isWritten) || llvm::any_of(writes, isWritten) || llvm::any_of(writes, isRead);
  }
};

using OpSet = llvm::SmallSetVector<Operation *, 8>;

void transfer(Operation *op, Pending &pending, const OpSet &barriers) {
  // All threads meet around a synchronous copy, and before roles begin.
  if (isa<cta::BarrierOp, cta::TmaLoadSyncOp, cta::WarpRolesOp>(op) || barriers.contains(op))
    pending.passBarrier();
  Accesses accesses(op);
  pending.reads.ranges.insert_range(accesses.reads);
  (isa<cta::AsyncCopyOp>(op) ? pending.copies : pending.writes).ranges.insert_range(accesses.writes);
  auto wait = dyn_cast<cta::AsyncWaitOp>(op);
  if (!wait)
    return;
  pending.writes.join(pending.copies);
  // A wait that leaves groups incomplete may leave any of the copies running, for a later wait to complete.
  if (wait.getPending() == 0)
    pending.copies.ranges.clear();
}

/// The operations that conflict with what is pending before them when there are `barriers`; with `choose` each of them
/// becomes a barrier at once.
OpSet findHazards(KernelOp kernel, OpSet &barriers, bool choose) {
  OpSet hazards;
  Pending pending;
  flowThrough<Pending>(kernel.getBody().front(), pending, [&](Operation *op, Pending &pending) {
    if (!barriers.contains(op) && Accesses(op).conflictWith(pending)) {
      hazards.insert(op);
      if (choose)
        barriers.insert(op);
    }
    transfer(op, pending, barriers);
  });
  return hazards;
}

} // namespace

SmallVector<Operation *> tile::findMissingBarriers(KernelOp kernel) {
  OpSet barriers;
  findHazards(kernel, barriers, /*choose=*/true);
  for (Operation *op : SmallVector<Operation *>(barriers.begin(), barriers.end())) {
    OpSet fewer = barriers;
    fewer.remove(op);
    if (findHazards(kernel, fewer, /*choose=*/false).empty())
      barriers = fewer;
  }
  SmallVector<Operation *> ordered;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (barriers.contains(op))
      ordered.push_back(op);
  });
  return ordered;
}
