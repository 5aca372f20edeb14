// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/EarlyCopies.h"

#include "Analysis/SharedAccesses.h"
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/ResidentCtas.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;

namespace {

/// Copies up to one commit, and what their operands are computed of.
class CopyGroup {
public:
  /// Finds how far up the copies before `commit` may go.
  explicit CopyGroup(cta::AsyncCommitOp commit) {
    add(commit);
    for (Operation *op = commit->getPrevNode(); op; op = op->getPrevNode()) {
      auto copy = dyn_cast<cta::AsyncCopyOp>(op);
      if (copy)
        buffers.insert(getAlloc(copy.getBuffer()));
      bool isNeeded = llvm::any_of(op->getResults(), [&](Value result) { return needed.contains(result); });
      bool comesAlong =
          copy || (isNeeded && op->getNumRegions() == 0 && (isa<cta::AllocOp>(op) || isMemoryEffectFree(op)));
      if (comesAlong)
        add(op);
      else if (isNeeded || !mayPass(op))
        return;
      else
        passes |= isa<cta::LocalLoadOp, LoadOp>(op);
      first = op;
    }
  }

  /// Whether anything is loaded before the copies begin that need not be.
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

  bool mayPass(Operation *op) const {
    auto load = dyn_cast<LoadOp>(op);
    bool isKnown = (load && !load.getIsVolatile()) || isa<cta::AllocOp, cta::LocalLoadOp, cta::LocalStoreOp>(op);
    return isMemoryEffectFree(op) || (isKnown && llvm::none_of(getSharedAccesses(op), [&](const SharedAccess &access) {
                                        return buffers.contains(getAlloc(access.buffer));
                                      }));
  }

  SmallVector<Operation *> operations; ///< From the last one to the first.
  DenseSet<Value> needed;
  DenseSet<Operation *> buffers;
  DenseMap<Operation *, Operation *> next; ///< Before they were moved.
  Operation *first = nullptr;              ///< That they may stand before.
  bool passes = false;
};

/// Bytes of shared memory that are in use at once.
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
    constexpr int64_t registers = 168; // of a thread: what products of warps take at most, as a rule
    return target::countResidentCtas(gpu, registers, kernel.getNumWarps() * target::threadsPerWarp,
                                     countSharedBytes(kernel))
        .least();
  };
  SmallVector<cta::AsyncCommitOp> commits;
  kernel.walk([&](cta::AsyncCommitOp commit) {
    if (isa_and_present<cta::AsyncWaitOp>(commit->getNextNode()))
      commits.push_back(commit);
  });
  for (cta::AsyncCommitOp commit : commits) {
    CopyGroup group(commit);
    if (!group.isLate())
      continue;
    int64_t before = countCtas();
    Operation *wait = commit->getNextNode(), *behind = wait->getNextNode();
    SmallVector<Operation *> behindThem{wait};
    if (isa<cta::ProxyFenceOp>(behind))
      behindThem.push_back(behind), behind = behind->getNextNode();
    group.move();
    for (Operation *op : llvm::reverse(behindThem))
      op->moveAfter(commit);
    if (countCtas() >= before)
      continue;
    for (Operation *op : behindThem)
      op->moveBefore(behind);
    group.moveBack();
  }
}
