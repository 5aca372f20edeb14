// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements RingRules.h.
#include "Transforms/Cta/RingRules.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

Operation *tile::getCounted(Operation *op) {
  if (isa<cta::RingAcquireOp, cta::RingWaitOp, cta::RingSkipOp, cta::RingDrainOp, cta::Tcgen05AwaitOp>(op))
    return op->getOperand(0).getDefiningOp();
  bool isTurn = isa<cta::TurnBeginOp>(op) && cta::isTurnOfTeams(op);
  return isTurn ? op->getParentOfType<cta::WarpRolesOp>().getOperation() : nullptr;
}

/// Returns true for operations of a role that fills a ring. (The next function does the same for a role that reads it.)
static bool isOfFilling(Operation *op) {
  return isa<cta::RingAcquireOp, cta::RingCommitOp, cta::RingDrainOp>(op);
}
static bool isOfReading(Operation *op) {
  return isa<cta::RingWaitOp, cta::RingReleaseOp, cta::RingSkipOp>(op);
}

cta::TurnOpenOp tile::findOpen(const cta::Role &role) {
  for (auto open : role.getBody().getOps<cta::TurnOpenOp>())
    if (open.getTeams())
      return open;
  return {};
}

static LogicalResult verifyCounting(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<KernelOp, cta::WarpRolesOp>(parent); parent = parent->getParentOp())
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(parent))
      return op->emitOpError() << "is in a '" << parent->getName()
                               << "'; slots can be counted only in loops and branches";
  return success();
}

static LogicalResult verifyRole(Operation *op) {
  if (isa<cta::Tcgen05AwaitOp>(op))
    return verifyCounting(op);
  if (!isOfFilling(op) && !isOfReading(op) && !cta::isTurnOfTeams(op))
    return success();
  std::optional<cta::Role> role = cta::findRole(op);
  auto roles = op->getParentOfType<cta::WarpRolesOp>();
  auto kernel = roles ? dyn_cast<KernelOp>(roles->getParentOp()) : KernelOp();
  if (!role || !kernel || cta::findRoles(kernel) != roles)
    return op->emitOpError() << "must be in a role of the one cta.warp_roles of the kernel's body";
  if (isOfReading(op) && role->fills(op->getOperand(0)))
    return op->emitOpError() << "reads a ring that its own role '" << role->getAttr().getName() << "' fills";
  if (cta::isTurnOfTeams(op) && role->getAttr().getTeams() == 1)
    return op->emitOpError() << "needs several teams, but role '" << role->getAttr().getName() << "' has one";
  if (cta::isTurnOfTeams(op) && !findOpen(*role))
    return op->emitOpError() << "needs a cta.turn_open of teams in the block of the role";
  return getCounted(op) ? verifyCounting(op) : success();
}

cta::RingCommitOp tile::findCommit(cta::RingAcquireOp acquire) {
  cta::RingCommitOp found;
  for (Operation *user : acquire.getSlot().getUsers())
    if (auto commit = dyn_cast<cta::RingCommitOp>(user)) {
      if (found || commit->getBlock() != acquire->getBlock() || commit.getRing() != acquire.getRing())
        return {};
      found = commit;
    }
  return found;
}

/// Returns true if the operation, which has `slot` as an operand, is between the acquire and the commit of that slot of
/// `ring`.
static bool isInFilling(Operation *op, Value ring, Value slot) {
  auto acquire = slot.getDefiningOp<cta::RingAcquireOp>();
  return acquire && acquire.getRing() == ring && acquire->getBlock() == op->getBlock() && findCommit(acquire) &&
         !findCommit(acquire)->isBeforeInBlock(op);
}

static LogicalResult verifyCopy(Operation *op, Value barrier, Value slot) {
  if (isa<cta::RingType>(barrier.getType()) && !isInFilling(op, barrier, slot))
    return op->emitOpError() << "must be between the cta.ring_acquire and the cta.ring_commit of its slot";
  std::optional<cta::Role> role = cta::findRole(op);
  if (role && !role->getAttr().getOneThread())
    return op->emitOpError() << "must be executed by one thread, but role '" << role->getAttr().getName()
                             << "' has several";
  return success();
}

LogicalResult tile::verifyRings(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    if (isa<cta::RingAllocOp>(op) && !isa<KernelOp>(op->getParentOp()))
      return op->emitOpError() << "must be in the kernel's body, before the roles";
    if (auto acquire = dyn_cast<cta::RingAcquireOp>(op); acquire && !findCommit(acquire))
      return op->emitOpError() << "needs one cta.ring_commit of its slot, in the same block";
    if (auto commit = dyn_cast<cta::RingCommitOp>(op); commit && !isInFilling(op, commit.getRing(), commit.getSlot()))
      return op->emitOpError() << "slot does not come from a cta.ring_acquire";
    if (auto load = dyn_cast<cta::TmaLoadOp>(op); load && failed(verifyCopy(op, load.getBarrier(), load.getSlot())))
      return failure();
    if (auto load = dyn_cast<cta::TmaMulticastOp>(op);
        load && failed(verifyCopy(op, load.getBarrier(), load.getSlot())))
      return failure();
    return verifyRole(op);
  });
  return failure(result.wasInterrupted());
}
