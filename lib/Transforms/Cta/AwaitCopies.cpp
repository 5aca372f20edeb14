// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sinks each wait to the first operation that may access the copied data, may write the source of the copies, or has
// unknown effects. The wait may move past TMA copies to other buffers, each of which is awaited where it is issued.
// Groups that are committed between the old and the new position need not be complete.
#include "Transforms/Cta/AwaitCopies.h"

#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/SharedMemory/SharedAccesses.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;

namespace {

class LateWait {
public:
  explicit LateWait(cta::AsyncWaitOp wait)
      : wait(wait), fence(dyn_cast_or_null<cta::ProxyFenceOp>(wait->getNextNode())) {
    for (Operation *op = wait->getPrevNode(); op && !isa<cta::AsyncWaitOp>(op); op = op->getPrevNode())
      if (auto copy = dyn_cast<cta::AsyncCopyOp>(op)) {
        copied.insert(getAlloc(copy.getBuffer()));
        read.join(PointerBases::of(copy.getPtr()));
      }
  }

  void move() {
    Operation *place = (fence ? fence.getOperation() : wait.getOperation())->getNextNode();
    unsigned pending = 0;
    for (; mayPass(place); place = place->getNextNode()) {
      pending += isa<cta::AsyncCommitOp>(place);
      if (auto other = dyn_cast<cta::AsyncWaitOp>(place); other && other.getPending() <= pending)
        return join(other);
    }
    wait->moveBefore(place);
    wait.setPending(pending);
    if (fence)
      fence->moveBefore(place);
    joinNext(place);
  }

private:
  /// Merges the waits for the first operands of an MMA: reading one of the operands earlier is not worth a separate
  /// barrier.
  void joinNext(Operation *place) {
    auto isBetween = [](Operation *op) {
      return !op->hasTrait<OpTrait::IsTerminator>() && op->getNumRegions() == 0 &&
             !isa<cta::AsyncWaitOp, cta::AsyncCommitOp, cta::WgmmaOp, cta::MmaSyncOp, cta::FmaDotOp>(op);
    };
    while (isBetween(place))
      place = place->getNextNode();
    auto next = dyn_cast<cta::AsyncWaitOp>(place);
    if (!next)
      return;
    auto nextFence = dyn_cast<cta::ProxyFenceOp>(next->getNextNode());
    wait.setPending(std::min(wait.getPending(), next.getPending()));
    next.erase();
    if (nextFence && fence)
      nextFence.erase();
    else if (nextFence)
      nextFence->moveAfter(wait);
  }

  /// Merges this wait into `other`, which then also covers the copies of this wait.
  void join(cta::AsyncWaitOp other) {
    if (fence && isa<cta::ProxyFenceOp>(other->getNextNode()))
      fence.erase();
    else if (fence)
      fence->moveAfter(other);
    wait.erase();
  }

  bool mayPass(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return false;
    if (isa<StoreOp>(op))
      return !PointerBases::writtenBy(op).mayOverlap(read);
    auto load = dyn_cast<LoadOp>(op);
    bool isKnown =
        (load && !load.getIsVolatile()) ||
        isa<cta::AllocOp, cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AsyncWaitOp, cta::ProxyFenceOp, cta::LocalLoadOp,
            cta::LocalStoreOp, cta::MbarrierAllocOp, cta::TmaLoadSyncOp, cta::WgmmaOp, cta::AwaitOp>(op);
    return isMemoryEffectFree(op) || (isKnown && llvm::none_of(getSharedAccesses(op), [&](const SharedAccess &access) {
                                        return copied.contains(getAlloc(access.buffer));
                                      }));
  }

  cta::AsyncWaitOp wait;
  cta::ProxyFenceOp fence;      ///< Null if there is none.
  DenseSet<Operation *> copied; ///< Destinations of the copies since the previous wait; only these are awaited here.
  PointerBases read;            ///< Memory that these copies read.
};

} // namespace

void tile::awaitCopiesLate(Block &block) {
  SmallVector<cta::AsyncWaitOp> waits;
  for (auto wait : block.getOps<cta::AsyncWaitOp>())
    if (isa_and_present<cta::AsyncCommitOp>(wait->getPrevNode()))
      waits.push_back(wait);
  for (cta::AsyncWaitOp wait : llvm::reverse(waits)) // in reverse, so that each wait is merged with those after it
    LateWait(wait).move();
}
