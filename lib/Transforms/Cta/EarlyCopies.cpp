// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/EarlyCopies.h"

#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;

namespace {

/// The copies of one commit group, or a load, together with the computation of their operands.
class EarlyGroup {
public:
  /// Finds how far up `last` may move. If `last` is a commit, also finds the copies that it commits.
  explicit EarlyGroup(Operation *last) : isLoad(isa<LoadOp>(last)) {
    if (auto load = dyn_cast<LoadOp>(last))
      read.join(PointerBases::of(load.getPtr()));
    add(last);
    for (Operation *op = last->getPrevNode(); op; op = op->getPrevNode()) {
      auto copy = isLoad ? cta::AsyncCopyOp() : dyn_cast<cta::AsyncCopyOp>(op);
      if (copy) {
        buffers.insert(getAlloc(copy.getBuffer()));
        read.join(PointerBases::of(copy.getPtr()));
      }
      bool isNeeded = llvm::any_of(op->getResults(), [&](Value result) { return needed.contains(result); });
      bool isMovable =
          copy || (isNeeded && op->getNumRegions() == 0 && (isa<cta::AllocOp>(op) || isMemoryEffectFree(op)));
      if (isMovable)
        add(op);
      else if (isNeeded || !mayPass(op))
        return;
      else
        passes |= isLoad ? takesTime(op) : isa<cta::LocalLoadOp, LoadOp, cta::TmaLoadSyncOp, cta::AwaitOp>(op);
      first = op;
    }
  }

  /// Returns true if the group follows operations that take time, and may move before these operations.
  bool isLate() const { return passes; }

  void move() {
    for (Operation *op : llvm::reverse(operations)) {
      next[op] = op->getNextNode();
      if (op == first)
        first = op->getNextNode();
      else
        op->moveBefore(first);
    }
  }

  void moveBack() {
    for (Operation *op : operations)
      op->moveBefore(next[op]);
  }

private:
  void add(Operation *op) {
    operations.push_back(op);
    needed.insert(op->operand_begin(), op->operand_end());
  }

  /// Returns true for operations that go through shared memory or wait for others that do.
  static bool takesTime(Operation *op) {
    return isa<cta::ConvertLayoutOp, cta::LocalLoadOp, cta::AsyncWaitOp, cta::AwaitOp, cta::MmaSyncOp, ReduceOp>(op);
  }

  bool mayPass(Operation *op) const {
    // After a loop of MMAs, a load hoisted above stores would take registers in addition to the accumulators.
    if (isa<StoreOp>(op))
      return (!isLoad || isa<LoopLikeOpInterface>(op->getParentOp())) && !PointerBases::writtenBy(op).mayOverlap(read);
    if (isLoad)
      return isMemoryEffectFree(op) || isa<cta::AllocOp, cta::LocalLoadOp, cta::LocalStoreOp, cta::AsyncWaitOp,
                                           cta::ProxyFenceOp, cta::WgmmaOp, cta::AwaitOp>(op);
    // A fence after a wait stays with the wait.
    bool isFenceOfStore = isa<cta::ProxyFenceOp>(op) && !isa_and_present<cta::AsyncWaitOp>(op->getPrevNode());
    auto load = dyn_cast<LoadOp>(op);
    bool isKnown = (load && !load.getIsVolatile()) || isFenceOfStore ||
                   isa<cta::AllocOp, cta::LocalLoadOp, cta::LocalStoreOp, cta::MbarrierAllocOp, cta::TmaLoadSyncOp,
                       cta::WgmmaOp, cta::AwaitOp>(op);
    return isMemoryEffectFree(op) || (isKnown && llvm::none_of(getSharedAccesses(op), [&](const SharedAccess &access) {
                                        return buffers.contains(getAlloc(access.buffer));
                                      }));
  }

  bool isLoad;
  SmallVector<Operation *> operations; ///< The operations from last to first.
  DenseSet<Value> needed;
  DenseSet<Operation *> buffers; ///< Destinations of these copies.
  PointerBases read;
  DenseMap<Operation *, Operation *> next; ///< The next operation before the move.
  Operation *first = nullptr;              ///< The earliest operation before which the group may move.
  bool passes = false;
};

/// Returns the peak shared memory use in bytes.
int64_t countSharedBytes(KernelOp kernel) {
  SmallVector<BufferLife> lives = findBufferLives(kernel);
  int64_t most = 0;
  for (const BufferLife &life : lives) {
    int64_t bytes = 0;
    for (const BufferLife &other : lives)
      if (other.first <= life.first && life.first <= other.last)
        bytes += other.getType().getBytes();
    most = std::max(most, bytes);
  }
  return most;
}

} // namespace

void tile::beginCopiesEarly(KernelOp kernel, const target::GpuTarget &gpu) {
  auto countCtas = [&] {
    return target::planResidency(gpu, {.threads = kernel.getNumWarps() * target::threadsPerWarp,
                                       .registers = target::tunedOf(gpu).registersOfMmaSync,
                                       .sharedBytes = countSharedBytes(kernel)})
        .ctas();
  };
  SmallVector<cta::AsyncCommitOp> commits;
  kernel.walk([&](cta::AsyncCommitOp commit) {
    if (isa_and_present<cta::AsyncWaitOp>(commit->getNextNode()))
      commits.push_back(commit);
  });
  for (cta::AsyncCommitOp commit : commits) {
    EarlyGroup group(commit);
    if (!group.isLate())
      continue;
    int64_t before = countCtas();
    Operation *wait = commit->getNextNode(), *next = wait->getNextNode();
    SmallVector<Operation *> waits{wait};
    if (isa<cta::ProxyFenceOp>(next))
      waits.push_back(next), next = next->getNextNode();
    group.move();
    for (Operation *op : llvm::reverse(waits))
      op->moveAfter(commit);
    if (countCtas() >= before)
      continue;
    for (Operation *op : waits)
      op->moveBefore(next);
    group.moveBack();
  }
}

static void beginLoadsEarly(Block &block) {
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(block.getParentOp()));
  bool isInLoop = isa<LoopLikeOpInterface>(block.getParentOp());
  int64_t registers = 0, maxRegisters = isInLoop ? tuned.earlyLoadRegistersInLoops : tuned.earlyLoadRegisters;
  for (LoadOp load : llvm::to_vector(block.getOps<LoadOp>())) {
    // Skip values that only the next iteration uses: they are loaded early enough.
    auto isInside = [&](Operation *user) { return user->getBlock() == &block; };
    auto isYielded = [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); };
    if (load.getIsVolatile() || !llvm::all_of(load->getUsers(), isInside) || llvm::all_of(load->getUsers(), isYielded))
      continue;
    EarlyGroup group(load);
    if (!group.isLate() || registers + countRegisters(load.getResult()) > maxRegisters)
      continue;
    registers += countRegisters(load.getResult());
    group.move();
  }
}

void tile::beginLoadsEarly(KernelOp kernel) {
  bool multiplies =
      kernel
          .walk([](Operation *op) {
            return isa<cta::MmaSyncOp, cta::WgmmaOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (multiplies)
    kernel.walk([](Block *block) { ::beginLoadsEarly(*block); });
}
