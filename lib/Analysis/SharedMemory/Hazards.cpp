// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds memory accesses that need a barrier between them.
//
// A forward data-flow analysis tracks the accesses that are pending since the last barrier. Shared-memory accesses are
// represented by byte ranges, because buffers share memory, and global-memory accesses by the kernel's parameters. In a
// loop, barriers are chosen before all pending accesses of the previous iteration are known. So at the end, each chosen
// barrier is dropped again if no hazard appears without it.
#include "Analysis/SharedMemory/Hazards.h"
#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Flow/StructuredFlow.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Layout/Access.h"
#include "Layout/MmaLayouts.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// The bytes [first, last) of the CTA's shared memory. `ofGroups` says that each warp group has a private part of these
/// bytes. `ofThreads` is the buffer if each of its elements is accessed by only one thread, otherwise null.
struct Bytes {
  int64_t first, last;
  bool ofGroups;
  Operation *ofThreads;
  bool operator==(const Bytes &) const = default;
};

struct ByteSet {
  SmallVector<Bytes, 4> ranges;

  bool overlaps(Bytes bytes) const {
    return llvm::any_of(ranges, [&](Bytes other) {
      bool isOwn = bytes.ofThreads && bytes.ofThreads == other.ofThreads;
      return !isOwn && other.first < bytes.last && bytes.first < other.last;
    });
  }
  void add(Bytes bytes) {
    if (!llvm::is_contained(ranges, bytes))
      ranges.push_back(bytes);
  }
  bool join(const ByteSet &other) {
    size_t before = ranges.size();
    llvm::for_each(other.ranges, [&](Bytes bytes) { add(bytes); });
    return ranges.size() != before;
  }
  /// Removes the ranges that a barrier orders. With `groupsOnly`, the barrier synchronizes the warps of each warp
  /// group, otherwise all consumer warps.
  void passBarrier(bool groupsOnly) {
    llvm::erase_if(ranges, [&](Bytes bytes) { return bytes.ofGroups || !groupsOnly; });
  }
};

/// Returns true if the same threads hold each element in both of two layouts of the same shape, whatever the registers.
bool areOfSameThreads(const layout::LinearLayout &a, const layout::LinearLayout &b) {
  auto registersOf = [](const layout::LinearLayout &layout) {
    std::vector<uint64_t> bases = layout.flatBases(layout::registerDim);
    llvm::sort(bases);
    return bases;
  };
  return a.flatBases(layout::laneDim) == b.flatBases(layout::laneDim) &&
         a.flatBases(layout::warpDim) == b.flatBases(layout::warpDim) && registersOf(a) == registersOf(b);
}

/// A global-memory access of a load or a store.
struct GlobalBlock {
  /// The type of the block of pointers, whose layout says which thread accesses which element. Null if there is none.
  RankedTensorType block;
  bool isReplica; ///< Several threads read each element.
  PointerBases bases;
};

/// Returns true if a thread may read an element that another thread writes. The two blocks may belong to one tensor
/// that is updated in place through another parameter, if they have the same shape and type. The program itself must
/// order accesses to blocks of different shapes.
bool mayConflict(const GlobalBlock &read, const GlobalBlock &write) {
  bool overlap = read.bases.mayOverlap(write.bases);
  if (read.isReplica)
    return overlap;
  return read.block && write.block && read.block.getShape() == write.block.getShape() &&
         (overlap || read.block.getElementType() == write.block.getElementType()) &&
         !areOfSameThreads(cta::getLayout(read.block), cta::getLayout(write.block));
}

struct GlobalBlocks {
  SmallVector<GlobalBlock, 2> blocks;

  bool join(const GlobalBlocks &other) {
    bool changed = false;
    for (const GlobalBlock &added : other.blocks) {
      auto known = llvm::find_if(blocks, [&](const GlobalBlock &block) {
        return block.block == added.block && block.isReplica == added.isReplica;
      });
      if (known == blocks.end())
        known = &blocks.emplace_back(GlobalBlock{added.block, added.isReplica, {}});
      changed |= known->bases.join(added.bases);
    }
    return changed;
  }
};

bool mayConflict(const GlobalBlocks &reads, const GlobalBlocks &writes) {
  return llvm::any_of(reads.blocks, [&](const GlobalBlock &read) {
    return llvm::any_of(writes.blocks, [&](const GlobalBlock &write) { return mayConflict(read, write); });
  });
}

/// Accesses that some thread may not have executed yet.
struct Pending {
  ByteSet reads, writes;
  ByteSet copies; ///< Asynchronous copies into shared memory that may not have been awaited.
  ByteSet stores; ///< Asynchronous copies out of shared memory that may not have been awaited.
  ByteSet mmas;   ///< wgmmas that may not have been awaited and may still read their operands.
  GlobalBlocks globalReads, globalWrites;

  bool join(const Pending &other) {
    bool newReads = reads.join(other.reads), newWrites = writes.join(other.writes);
    bool newCopies = copies.join(other.copies), newStores = stores.join(other.stores);
    bool newMmas = mmas.join(other.mmas);
    bool newGlobalReads = globalReads.join(other.globalReads), newGlobals = globalWrites.join(other.globalWrites);
    return newReads || newWrites || newCopies || newStores || newMmas || newGlobalReads || newGlobals;
  }
  void passBarrier(bool groupsOnly) {
    reads.passBarrier(groupsOnly);
    writes.passBarrier(groupsOnly);
    if (!groupsOnly) {
      globalReads.blocks.clear();
      globalWrites.blocks.clear();
    }
  }
};

/// The global-memory accesses of an operation.
struct GlobalAccess {
  GlobalBlocks reads, writes;
};

GlobalAccess getGlobalAccess(Operation *op) {
  // A role with one thread has no hazards, because a thread's accesses are ordered by its program.
  if (std::optional<cta::Role> role = cta::findRole(op); role && role->getAttr().getOneThread())
    return {};
  auto blockOf = [](Value pointers) {
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    return type && isa_and_nonnull<cta::LayoutAttr>(type.getEncoding()) ? type : RankedTensorType();
  };
  GlobalAccess access;
  if (auto load = dyn_cast<LoadOp>(op)) {
    // A polling load needs no barrier: a thread that waits for another program's signal must not also wait for warps
    // that have already seen that signal.
    if (load.getFirst() || load.getIsVolatile())
      return access;
    RankedTensorType block = blockOf(load.getPtr());
    bool isReplica = !block || cta::getLayout(block).hasBroadcast(layout::warpDim) ||
                     cta::getLayout(block).hasBroadcast(layout::laneDim);
    access.reads.blocks.push_back({block, isReplica, PointerBases::of(load.getPtr())});
  } else if (PointerBases written = PointerBases::writtenBy(op); !written.isEmpty()) {
    auto store = dyn_cast<StoreOp>(op);
    access.writes.blocks.push_back(
        {store ? blockOf(store.getPtr()) : RankedTensorType(), /*isReplica=*/false, written});
  }
  return access;
}

/// Returns true if each warp group writes and reads only its own part of the buffer's rows (axis 0) or columns (axis
/// 1). Then only the threads within each group need to be ordered.
bool isSplitByGroups(cta::AllocOp alloc, unsigned axis, int64_t groups) {
  SmallVector<Value> views{alloc.getResult()};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (isa<cta::SlotOp>(user)) {
        views.push_back(user->getResult(0));
        continue;
      }
      auto store = dyn_cast<cta::LocalStoreOp>(user);
      auto load = dyn_cast<cta::LocalLoadOp>(user);
      auto copy = dyn_cast<cta::TmaStoreOp>(user);
      if (!(store && layout::splitsAxis(cta::getLayout(store.getValue().getType()), axis, groups)) &&
          !(load && !load.getStart() && layout::splitsAxis(cta::getLayout(load.getType()), axis, groups)) &&
          !(copy && int64_t(copy.getGroups()) == groups && copy.getBuffer().getType().getPartAxis(groups) == axis))
        return false;
    }
  }
  return true;
}

/// Returns true if each element of the buffer is copied and loaded by the same thread only (cta-keep-rows). The thread
/// then needs to await only its own copies. A load by ldmatrix does not qualify, because a lane gets elements that
/// other lanes read.
bool isOfThreads(cta::AllocOp alloc) {
  cta::BufferType buffer = alloc.getType();
  unsigned elementBytes = getBytesInMemory(buffer.getElementType());
  std::optional<layout::LinearLayout> common;
  return llvm::all_of(alloc->getUsers(), [&](Operation *user) {
    auto copy = dyn_cast<cta::AsyncCopyOp>(user);
    auto load = dyn_cast<cta::LocalLoadOp>(user);
    if (!copy && !(load && !load.getStart()))
      return false;
    layout::LinearLayout layout =
        cta::getLayout(cast<RankedTensorType>(copy ? copy.getPtr().getType() : load.getResult().getType()));
    bool isShared = layout.hasBroadcast(layout::warpDim) || layout.hasBroadcast(layout::laneDim);
    if (!common)
      common = layout;
    bool isExchanged = layout::planMatrixAccess(layout, buffer.getLayout().getLayout(), elementBytes).has_value();
    return !isShared && !isExchanged && *common == layout;
  });
}

// The operations that need a barrier, and whether synchronizing the warps of each warp group suffices.
using Barriers = llvm::MapVector<Operation *, bool>;

class HazardAnalysis {
public:
  explicit HazardAnalysis(KernelOp kernel) : kernel(kernel) {
    int64_t groups = kernel.getNumWarps() / 4;
    SmallVector<cta::AllocOp> allocs;
    kernel.walk([&](cta::AllocOp alloc) { allocs.push_back(alloc); });
    kernel.walk([&](Operation *op) { globalAccesses[op] = getGlobalAccess(op); });
    for (cta::AllocOp alloc : allocs) {
      Bytes bytes = getBytes(alloc);
      bool isAlone = llvm::none_of(allocs, [&](cta::AllocOp other) {
        Bytes others = getBytes(other);
        return other != alloc && bytes.first < others.last && others.first < bytes.last;
      });
      if (groups > 1 && isAlone && (isSplitByGroups(alloc, 0, groups) || isSplitByGroups(alloc, 1, groups)))
        split.insert(alloc);
      if (isOfThreads(alloc))
        ownParts.insert(alloc);
    }
    kernel.walk([&](Operation *op) {
      for (SharedAccess access : getSharedAccesses(op))
        accesses[op].push_back({getBytes(access.buffer), access.isWrite, access.isAsync});
    });
  }

  /// Returns the operations that conflict with pending accesses if there are barriers before the operations in
  /// `barriers`. With `choose`, adds each conflicting operation to `barriers` as soon as it is found.
  Barriers findHazards(Barriers &barriers, bool choose) {
    Barriers hazards;
    needed.clear();
    Pending pending;
    flowThrough<Pending>(kernel.getBody().front(), pending, [&](Operation *op, Pending &pending) {
      auto barrier = barriers.find(op);
      std::optional<bool> conflict = findConflict(op, pending);
      if (conflict && (barrier == barriers.end() || (barrier->second && !*conflict))) {
        hazards[op] = *conflict;
        if (choose)
          barriers[op] = *conflict;
      } else if (conflict) {
        needed.insert(op);
      }
      transfer(op, pending, barriers);
    });
    return hazards;
  }

  /// Returns true if the last call to findHazards found a conflict that only the barrier before `op` resolves.
  bool isNeeded(Operation *op) const { return needed.contains(op); }

private:
  Bytes getBytes(Value buffer) {
    cta::AllocOp alloc = getAlloc(buffer);
    // The slot is known only at run time, so all slots count.
    int64_t first = *alloc.getOffset();
    return {first, first + alloc.getType().getBytes(), split.contains(alloc),
            ownParts.contains(alloc) ? alloc.getOperation() : nullptr};
  }

  struct ByteAccess {
    Bytes bytes;
    bool isWrite, isAsync;
  };
  ArrayRef<ByteAccess> getAccesses(Operation *op) const {
    auto found = accesses.find(op);
    return found == accesses.end() ? ArrayRef<ByteAccess>() : ArrayRef<ByteAccess>(found->second);
  }

  /// Returns nullopt if there is no conflict, otherwise whether a barrier within each warp group resolves it. In its
  /// turn, a warp group must not wait for a group whose turn has not come. So the conflicts of all operations of a turn
  /// are reported for the beginning of the turn.
  std::optional<bool> findConflict(Operation *op, const Pending &pending) {
    std::optional<bool> conflict = findOwnConflict(op, pending);
    if (!isa<cta::TurnBeginOp>(op) || cta::isTurnOfTeams(op))
      return conflict;
    for (Operation *inner = op->getNextNode(); inner && !isa<cta::TurnEndOp>(inner); inner = inner->getNextNode())
      if (std::optional<bool> other = findOwnConflict(inner, pending))
        conflict = *other && conflict.value_or(true);
    return conflict;
  }

  std::optional<bool> findOwnConflict(Operation *op, const Pending &pending) {
    std::optional<bool> conflict;
    for (const ByteAccess &access : getAccesses(op))
      if (pending.writes.overlaps(access.bytes) || (access.isWrite && pending.reads.overlaps(access.bytes)))
        conflict = access.bytes.ofGroups && conflict.value_or(true);
    const GlobalAccess &global = globalAccesses.at(op);
    if (mayConflict(global.reads, pending.globalWrites) || mayConflict(pending.globalReads, global.writes))
      conflict = false;
    return conflict;
  }

  void transfer(Operation *op, Pending &pending, const Barriers &barriers) {
    if (auto barrier = dyn_cast<cta::BarrierOp>(op))
      pending.passBarrier(barrier.getGroups());
    // All threads synchronize at a synchronous TMA load, before one of them issues tcgen05 MMAs, and before roles
    // begin.
    if (isa<cta::TmaLoadSyncOp, cta::Tcgen05MmaOp, cta::TensorMemoryOpenOp, cta::WarpRolesOp>(op))
      pending.passBarrier(/*groupsOnly=*/false);
    if (auto barrier = barriers.find(op); barrier != barriers.end())
      pending.passBarrier(barrier->second);
    const GlobalAccess &global = globalAccesses.at(op);
    pending.globalReads.join(global.reads);
    if (!isa<cta::TmaStoreOp>(op)) // the access may complete after any barrier
      pending.globalWrites.join(global.writes);
    for (const ByteAccess &access : getAccesses(op)) {
      ByteSet &now = access.isWrite ? pending.writes : pending.reads;
      ByteSet &later = access.isWrite ? pending.copies : isa<cta::WgmmaOp>(op) ? pending.mmas : pending.stores;
      (access.isAsync || isa<cta::WgmmaOp>(op) ? later : now).add(access.bytes);
    }
    // A thread awaits only its own copies, so at the wait they become pending accesses for other threads. A wait that
    // leaves groups incomplete may leave any copy running until a later wait.
    if (auto wait = dyn_cast<cta::AsyncWaitOp>(op)) {
      pending.writes.join(pending.copies);
      if (wait.getPending() == 0)
        pending.copies.ranges.clear();
    }
    if (auto wait = dyn_cast<cta::TmaStoreWaitOp>(op)) {
      pending.reads.join(pending.stores);
      if (wait.getPending() == 0)
        pending.stores.ranges.clear();
    }
    bool endsMmas = awaitsAllWgmmas(op);
    if (endsMmas || isa<cta::WgmmaWaitOp>(op))
      pending.reads.join(pending.mmas);
    if (endsMmas)
      pending.mmas.ranges.clear();
  }

  KernelOp kernel;
  DenseSet<Operation *> split, ownParts, needed;
  DenseMap<Operation *, GlobalAccess> globalAccesses; ///< The accesses of every operation.
  DenseMap<Operation *, SmallVector<ByteAccess, 2>> accesses;
};

} // namespace

SmallVector<MissingBarrier> tile::findMissingBarriers(KernelOp kernel) {
  HazardAnalysis analysis(kernel);
  Barriers barriers;
  analysis.findHazards(barriers, /*choose=*/true);
  // With fewer barriers, more accesses are pending. So a barrier that is needed while all others are present cannot
  // become unnecessary.
  (void)analysis.findHazards(barriers, /*choose=*/false);
  SmallVector<Operation *> doubtful;
  for (auto [op, groups] : barriers)
    if (!analysis.isNeeded(op))
      doubtful.push_back(op);
  for (Operation *op : doubtful) {
    Barriers fewer = barriers;
    fewer.erase(op);
    if (analysis.findHazards(fewer, /*choose=*/false).empty())
      barriers = fewer;
  }
  SmallVector<MissingBarrier> ordered;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto barrier = barriers.find(op); barrier != barriers.end())
      ordered.push_back({op, barrier->second});
  });
  return ordered;
}
