// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-rings: lower rings to buffers, mbarriers and counters, and cta.next_slot to arithmetic.
//
// A ring becomes the buffers of all its slots and two mbarriers per slot: `full` counts the arrivals of the roles that
// fill the slot and the bytes of their copies, `empty` counts the arrivals of the roles that read it. A role arrives
// once per warp, or once if it is a single thread. A role's position in a ring consists of the index of the next slot
// and the parity of the phase for which the role waits. Each role carries its position through the loops and branches
// in which it takes slots:
//
//   for k {                            for k, (slot, parity) {
//     %s = ring_wait %r                  wait full[slot], parity
//     use the buffers of %s     ==>      use slot of the buffers
//     ring_release %r[%s]                arrive empty[slot]
//   }                                    yield next(slot, parity) }
//
// On a new barrier, the phase before the first one counts as complete; its parity is 1. A role that fills a ring waits
// for the other parity of `empty`, so it does not block in its first pass over the ring. Teams count their turns in the
// same way: each team waits at a separate barrier, at which the warps of the other team arrive.
#include "Cta/CtaDialect.h"
#include "Transforms/Cta/CarryValues.h"
#include "Transforms/Cta/RingRules.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERRINGS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The slot index that means no slot.
constexpr int64_t noSlot = -1;

/// Returns true if the operation advances the role's position in a ring.
bool advances(Operation *op) {
  return !isa<cta::RingDrainOp>(op);
}

/// Returns the number of bytes that TMA copies to the slot.
int64_t countBytes(cta::RingAcquireOp acquire) {
  int64_t bytes = 0;
  for (Operation *user : acquire.getSlot().getUsers()) {
    if (auto load = dyn_cast<cta::TmaLoadOp>(user))
      bytes += load.getBuffer().getType().getBlockBytes();
    if (auto load = dyn_cast<cta::TmaMulticastOp>(user))
      bytes += load.getBuffer().getType().getBlockBytes();
  }
  return bytes;
}

/// The position of a role in a ring.
struct RingPosition {
  int64_t slots;
  Value slot, parity; ///< i32
  /// The location of the operation that has taken the slot, if any. The role's position is then the next slot; settle()
  /// advances it.
  std::optional<Location> taken;
};

/// Returns the index of the next slot, and whether it wraps to the first.
std::pair<Value, Value> emitNextSlot(I32Arith n, Value slot, int64_t slots) {
  Value wraps = n.equal(slot, n.constant(slots - 1));
  Value next = n.add(slot, n.constant(1));
  return {n.select(wraps, n.constant(0), next), wraps};
}

using RingPositions = llvm::MapVector<Operation *, RingPosition>; ///< Positions by ring, MMA barrier or team.

class RingLowering {
public:
  explicit RingLowering(KernelOp kernel) : kernel(kernel), rewriter(kernel.getContext()) {}

  void run() {
    cta::WarpRolesOp roles = cta::findRoles(kernel);
    SmallVector<cta::Role> all = roles ? roles.getAll() : SmallVector<cta::Role>();
    SmallVector<cta::RingAllocOp> allocs(kernel.getBody().front().getOps<cta::RingAllocOp>());
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    if (!allocs.empty())
      zero = emitI32(rewriter, kernel.getLoc(), 0);
    llvm::for_each(allocs, [&](cta::RingAllocOp alloc) { allocate(alloc, all); });
    for (const cta::Role &role : all)
      openTurns(roles, role);
    kernel.walk([&](cta::Tcgen05AwaitOp await) {
      if (!zero)
        zero = emitI32(rewriter, kernel.getLoc(), 0);
      positions[getCounted(await)] = {/*slots=*/1, zero, zero, std::nullopt};
    });
    for (const cta::Role &role : all) {
      RingPositions start = positions;
      lowerBlock(role.getBody().front(), start);
    }
    if (!roles)
      lowerBlock(kernel.getBody().front(), positions);
    makeNumbersOfSlots();
    lowerUses();
    kernel.walk([&](cta::NextSlotOp next) {
      rewriter.setInsertionPoint(next);
      rewriter.replaceOp(next, emitNextSlot(I32Arith(rewriter, next.getLoc()), next.getIndex(), next.getSlots()).first);
    });
    llvm::for_each(allocs, [&](cta::RingAllocOp alloc) { rewriter.eraseOp(alloc); });
  }

private:
  struct Memory {
    SmallVector<Value> buffers;
    Value full, empty;
  };

  /// Converts the ring slots that loops and branches carry to integers.
  void makeNumbersOfSlots() {
    auto convert = [&](Value value) {
      if (isa<cta::RingSlotType>(value.getType()))
        value.setType(rewriter.getI32Type());
    };
    kernel.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), convert);
      for (Region &region : op->getRegions())
        llvm::for_each(region.getArguments(), convert);
    });
  }

  Value allocateBarriers(Location loc, int64_t slots, int64_t arrivals) {
    return cta::MbarrierAllocOp::create(rewriter, loc, cta::MbarrierType::get(kernel.getContext(), slots), arrivals,
                                        /*offset=*/IntegerAttr());
  }

  void allocate(cta::RingAllocOp alloc, ArrayRef<cta::Role> roles) {
    Location loc = alloc.getLoc();
    rewriter.setInsertionPoint(alloc);
    int64_t slots = alloc.getType().getSlots();
    Memory &ring = rings[alloc];
    for (cta::BufferType type : alloc.getType().getBuffers())
      ring.buffers.push_back(cta::AllocOp::create(rewriter, loc, type.withSlots(slots), /*offset=*/IntegerAttr()));
    int64_t ofFilling = 0, ofReading = 0;
    for (const cta::Role &role : roles) {
      ofFilling += role.fills(alloc) ? role.getAttr().countArrivals() : 0;
      ofReading += role.reads(alloc) ? role.getAttr().countArrivals() : 0;
    }
    // A barrier without arrivals must have no waiters either, but its count is at least 1.
    ring.full = allocateBarriers(loc, slots, std::max<int64_t>(ofFilling, 1));
    ring.empty = allocateBarriers(loc, slots, std::max<int64_t>(ofReading, 1) * alloc.getCtas());
    positions[alloc] = {slots, zero, zero, std::nullopt};
  }

  /// Creates the barriers for turns of teams, such that the first team's first turn starts without waiting.
  void openTurns(cta::WarpRolesOp roles, const cta::Role &role) {
    cta::TurnOpenOp open = findOpen(role);
    if (!open)
      return;
    rewriter.setInsertionPoint(roles);
    turns = allocateBarriers(roles.getLoc(), open.getGroups(), role.getAttr().getWarps());
    rewriter.setInsertionPoint(open);
    I32Arith n(rewriter, roles.getLoc());
    Value team = cta::TeamOp::create(rewriter, roles.getLoc());
    positions[roles] = {/*slots=*/1, n.constant(0), n.flip(team), std::nullopt};
  }

  void lowerBlock(Block &block, RingPositions &positions) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      rewriter.setInsertionPoint(&op);
      if (Operation *counted = getCounted(&op)) {
        RingPosition &position = positions[counted];
        settle(position);
        lower(&op, position);
        if (advances(&op) && !isa<cta::RingSkipOp>(op))
          position.taken = op.getLoc();
        rewriter.eraseOp(&op);
      } else if (op.getNumRegions() != 0) {
        lowerControl(&op, positions);
      }
    }
  }

  /// Makes a loop or branch in which slots are taken carry the positions in their rings.
  void lowerControl(Operation *op, RingPositions &positions) {
    DenseSet<Operation *> used, moved;
    op->walk([&](Operation *inner) {
      if (Operation *counted = getCounted(inner)) {
        used.insert(counted);
        if (advances(inner))
          moved.insert(counted);
      }
    });
    if (used.empty())
      return;
    for (auto &[counted, position] : positions)
      if (used.contains(counted))
        settle(position);
    SmallVector<Value> before = getValues(positions, moved);
    if (!moved.empty())
      op = carryValues(rewriter, op, before);
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      Block &block = region.front();
      RingPositions inside = positions;
      if (isa<LoopLikeOpInterface>(op))
        setValues(inside, moved, block.getArguments().take_back(before.size()));
      lowerBlock(block, inside);
      Operation *end = block.getTerminator();
      rewriter.setInsertionPoint(end);
      for (auto &[counted, position] : inside)
        if (moved.contains(counted))
          settle(position);
      end->setOperands(end->getNumOperands() - before.size(), before.size(), getValues(inside, moved));
    }
    setValues(positions, moved, op->getResults().take_back(before.size()));
  }

  static SmallVector<Value> getValues(const RingPositions &positions, const DenseSet<Operation *> &moved) {
    SmallVector<Value> values;
    for (auto &[counted, position] : positions)
      if (moved.contains(counted))
        values.append({position.slot, position.parity});
    return values;
  }
  static void setValues(RingPositions &positions, const DenseSet<Operation *> &moved, ValueRange values) {
    for (auto &[counted, position] : positions)
      if (moved.contains(counted)) {
        position.slot = values[0];
        position.parity = values[1];
        values = values.drop_front(2);
      }
  }

  /// Advances the position past a slot that was taken: to the next slot or, after the last one, to the first slot with
  /// the other parity.
  void settle(RingPosition &position) {
    if (!position.taken)
      return;
    I32Arith n(rewriter, *std::exchange(position.taken, std::nullopt));
    Value flipped = n.flip(position.parity);
    if (position.slots == 1) {
      position.parity = flipped;
      return;
    }
    auto [next, wraps] = emitNextSlot(n, position.slot, position.slots);
    position.slot = next;
    position.parity = n.select(wraps, flipped, position.parity);
  }

  void lower(Operation *op, RingPosition &position) {
    Location loc = op->getLoc();
    if (auto acquire = dyn_cast<cta::RingAcquireOp>(op)) {
      const Memory &ring = rings.at(acquire.getRing().getDefiningOp());
      Value parity = I32Arith(rewriter, loc).flip(position.parity);
      cta::MbarrierWaitOp::create(rewriter, loc, ring.empty, position.slot, parity);
      // The expected bytes are announced before the copies, so that copies alone cannot complete the phase. Roles with
      // several threads arrive afterwards.
      if (cta::findRole(op)->getAttr().getOneThread() && !findCommit(acquire).getByMma())
        cta::MbarrierExpectOp::create(rewriter, loc, ring.full, position.slot, countBytes(acquire));
      rewriter.replaceAllUsesWith(acquire.getSlot(), position.slot);
    } else if (auto wait = dyn_cast<cta::RingWaitOp>(op)) {
      const Memory &ring = rings.at(wait.getRing().getDefiningOp());
      cta::MbarrierWaitOp::create(rewriter, loc, ring.full, position.slot, position.parity);
      rewriter.replaceAllUsesWith(wait.getSlot(), position.slot);
    } else if (auto skip = dyn_cast<cta::RingSkipOp>(op)) {
      emitSkip(skip, position);
    } else if (auto drain = dyn_cast<cta::RingDrainOp>(op)) {
      emitDrain(loc, rings.at(drain.getRing().getDefiningOp()).full, position);
    } else if (auto await = dyn_cast<cta::Tcgen05AwaitOp>(op)) {
      cta::MbarrierWaitOp::create(rewriter, loc, await.getBarrier(), position.slot, position.parity);
      cta::TensorMemoryFenceOp::create(rewriter, loc, /*before=*/false);
    } else {
      cta::MbarrierWaitOp::create(rewriter, loc, turns, cta::TeamOp::create(rewriter, loc), position.parity);
    }
  }

  void emitSkip(cta::RingSkipOp skip, RingPosition &position) {
    auto [remainder, rounds] = divide(skip.getCount(), position.slots);
    if (position.slot == zero) { // at the start of the role
      position.slot = remainder;
      position.parity = rounds;
      return;
    }
    I32Arith n(rewriter, skip.getLoc());
    Value slots = n.constant(position.slots), sum = n.add(position.slot, remainder);
    Value staysBelow = n.less(sum, slots);
    Value flipped = arith::XOrIOp::create(rewriter, skip.getLoc(), position.parity, rounds);
    position.slot = n.select(staysBelow, sum, n.sub(sum, slots));
    position.parity = n.select(staysBelow, flipped, n.flip(flipped));
  }

  /// Returns by how much `count` slots advance a slot index and a parity. Emits the division where the count is
  /// computed, because loops skip the same count again and again.
  std::pair<Value, Value> divide(Value count, int64_t slots) {
    auto [known, isNew] = skips.try_emplace({count, slots});
    if (!isNew)
      return known->second;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(count);
    I32Arith n(rewriter, count.getLoc());
    Value divisor = n.constant(slots), rounds = n.div(count, divisor);
    Value remainder = n.sub(count, n.mul(rounds, divisor));
    return known->second = {remainder, arith::AndIOp::create(rewriter, count.getLoc(), rounds, n.constant(1))};
  }

  /// Waits until all copies have arrived: those of this round, with slots below the next one, and those of the previous
  /// round.
  void emitDrain(Location loc, Value full, const RingPosition &position) {
    OpBuilder::InsertionGuard guard(rewriter);
    I32Arith n(rewriter, loc);
    Value other = n.flip(position.parity);
    auto loop = scf::ForOp::create(rewriter, loc, n.constant(0), n.constant(position.slots), n.constant(1));
    rewriter.setInsertionPointToStart(loop.getBody());
    Value isNewer = n.less(loop.getInductionVar(), position.slot);
    Value awaited = n.select(isNewer, position.parity, other);
    cta::MbarrierWaitOp::create(rewriter, loc, full, loop.getInductionVar(), awaited);
  }

  /// Returns the slot index, which no longer has the operand's declared type.
  template <typename OpType> static Value slotOf(OpType op) { return op.getSlotMutable().get(); }

  /// Lowers operations that name their slot explicitly.
  void lowerUses() {
    kernel.walk([&](Operation *op) {
      Location loc = op->getLoc();
      rewriter.setInsertionPoint(op);
      if (auto release = dyn_cast<cta::RingReleaseOp>(op)) {
        auto alloc = release.getRing().getDefiningOp<cta::RingAllocOp>();
        if (release.getByMma()) {
          cta::Tcgen05CommitOp::create(rewriter, loc, rings.at(alloc).empty, slotOf(release));
          rewriter.eraseOp(op);
          return;
        }
        // If no MMA is awaited, threads have read the slot themselves. The arrival does not wait for these loads, and
        // the next copy, which goes through another proxy, could overtake them, so a fence is needed.
        if (release.getTokens().empty() && !alloc.getType().getBuffers().empty())
          cta::ProxyFenceOp::create(rewriter, loc);
        cta::MbarrierArriveOp::create(rewriter, loc, rings.at(alloc).empty, slotOf(release), release.getCondition(),
                                      alloc.getCtas());
      } else if (auto commit = dyn_cast<cta::RingCommitOp>(op)) {
        lowerCommit(commit);
      } else if (auto buffers = dyn_cast<cta::RingBuffersOp>(op)) {
        lowerBuffers(buffers);
      } else if (isa<cta::RingNoneOp>(op)) {
        rewriter.replaceAllUsesWith(op->getResult(0), emitI32(rewriter, loc, noSlot));
      } else if (auto holds = dyn_cast<cta::RingHoldsOp>(op)) {
        Value any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, slotOf(holds),
                                          emitI32(rewriter, loc, noSlot));
        rewriter.replaceAllUsesWith(holds.getResult(), any);
      } else if (isa<cta::TurnEndOp>(op) && cta::isTurnOfTeams(op)) {
        Value other = I32Arith(rewriter, loc).flip(cta::TeamOp::create(rewriter, loc));
        cta::MbarrierArriveOp::create(rewriter, loc, turns, other, /*condition=*/Value());
      } else if (isa<cta::TmaLoadOp, cta::TmaMulticastOp>(op)) {
        return lowerCopy(op);
      } else if (!cta::isTurnOfTeams(op)) {
        return;
      }
      rewriter.eraseOp(op);
    });
  }

  /// Signals that a slot is full. Does nothing for a single-thread role: it has already arrived, and its copies signal
  /// completion themselves. Other roles need a fence, because TMA or wgmma may read their data through another proxy.
  void lowerCommit(cta::RingCommitOp op) {
    if (op.getByMma()) {
      cta::Tcgen05CommitOp::create(rewriter, op.getLoc(), rings.at(op.getRing().getDefiningOp()).full, slotOf(op));
      return;
    }
    if (cta::findRole(op)->getAttr().getOneThread())
      return;
    cta::ProxyFenceOp::create(rewriter, op.getLoc());
    cta::MbarrierArriveOp::create(rewriter, op.getLoc(), rings.at(op.getRing().getDefiningOp()).full, slotOf(op),
                                  /*condition=*/Value());
  }

  /// Computes the address of each copy separately, so that the first copy need not wait for the address of the second.
  void lowerBuffers(cta::RingBuffersOp op) {
    const Memory &ring = rings.at(op.getRing().getDefiningOp());
    for (auto [result, buffer] : llvm::zip_equal(op.getBuffers(), ring.buffers)) {
      auto emitSlot = [&, type = result.getType(), buffer = buffer](Operation *before) -> Value {
        rewriter.setInsertionPoint(before);
        return cta::SlotOp::create(rewriter, op.getLoc(), type, buffer, slotOf(op));
      };
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
        if (isa<cta::TmaLoadOp, cta::TmaMulticastOp>(use.getOwner()))
          use.set(emitSlot(use.getOwner()));
      if (!result.use_empty())
        rewriter.replaceAllUsesWith(result, emitSlot(op));
    }
  }

  /// Makes a copy count its bytes at the `full` barrier of its slot.
  void lowerCopy(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto alloc = operand.get().getDefiningOp<cta::RingAllocOp>())
        operand.set(rings.at(alloc).full);
  }

  KernelOp kernel;
  IRRewriter rewriter;
  DenseMap<Operation *, Memory> rings;
  RingPositions positions; ///< Positions at the start of each role.
  Value zero, turns;
  DenseMap<std::pair<Value, int64_t>, std::pair<Value, Value>> skips;
};

struct CtaLowerRings : tile::impl::CtaLowerRingsBase<CtaLowerRings> {
  void runOnKernel() override {
    if (failed(verifyRings(getOperation())))
      return signalPassFailure();
    RingLowering(getOperation()).run();
  }
};

} // namespace
