// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-specialize-mma: let one thread of a separate warp issue the MMAs of main loops.
//
// After cta-specialize-warps and cta-keep-accumulators, a main loop of tcgen05 dots only waits and issues, for which
// one thread suffices. It moves to a role "mma". A slot of operands is released, and the accumulator is passed to the
// consumers, when the MMAs are complete, without a thread that waits for them:
//
//   consumer: for k {                   mma: %s = ring_acquire %done          consumer: %s = ring_wait %done
//     %s = ring_wait %r                      for k {                                    %x = tensor_memory_load %acc
//     tcgen05_mma … of %s, %acc                %o = ring_wait %r                        ring_release %done[%s]
//     commit, await                 ==>        tcgen05_mma … of %o, %acc                use %x
//     ring_release %r[%s] }                    ring_release %r[%o] by_mma }
//   %x = tensor_memory_load %acc             ring_commit %done[%s] by_mma
//   use %x
//
// The ring %done has no buffers: it only says who may access the accumulator. In persistent kernels it has two slots,
// and so has the accumulator if tensor memory is large enough: one tile is computed while another one is stored.
#include "Analysis/Programs/RoleSlice.h"
#include "Cta/CtaDialect.h"
#include "Target/Engines/Tcgen05.h"
#include "Transforms/Cta/CloneControl.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTASPECIALIZEMMA
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// A loop that only waits for operands and multiplies them.
struct MainLoop {
  scf::ForOp loop;
  llvm::SetVector<Value> accumulators;
  /// The last operation after the loop that loads an accumulator; the loop itself if there is none.
  Operation *lastLoad = nullptr;
  Value done;                     ///< The ring that passes the accumulators.
  DenseMap<Value, Value> doubled; ///< The accumulators with two slots.
};

bool mayMove(Operation *op) {
  bool isOfMma = isa<cta::RingWaitOp, cta::RingBuffersOp, cta::RingReleaseOp, cta::TransBufferOp, cta::Tcgen05MmaOp,
                     cta::Tcgen05CommitOp, cta::Tcgen05AwaitOp, scf::YieldOp>(op);
  return isOfMma || (isMemoryEffectFree(op) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>));
}

bool mayMove(scf::ForOp loop) {
  WalkResult result =
      loop.getBody()->walk([](Operation *op) { return mayMove(op) ? WalkResult::advance() : WalkResult::interrupt(); });
  return loop.getNumResults() == 0 && !result.wasInterrupted();
}

class MmaSpecialisation {
public:
  explicit MmaSpecialisation(KernelOp kernel, cta::WarpRolesOp roles)
      : kernel(kernel), roles(roles), consumer(&roles.getBodies()[0].front()), rewriter(kernel.getContext()),
        slice(roles) {}

  /// Returns false, and changes nothing, if the kernel does not have such loops.
  bool run() {
    if (!findLoops() || loops.empty() || !ringsAreTheirs() || !findSlice())
      return false;
    createRole();
    for (MainLoop &main : loops) {
      bool isDoubled = doubleAccumulators(main);
      main.done = cta::RingAllocOp::create(before, main.loop.getLoc(),
                                           cta::RingType::get(kernel.getContext(), /*slots=*/isDoubled ? 2 : 1, {}));
    }
    rewriter.setInsertionPointToStart(mma);
    cloneOps(*consumer);
    llvm::for_each(loops, [&](MainLoop &main) { rewriteForConsumer(main); });
    return true;
  }

private:
  /// Finds the loops. Returns false unless all MMAs of the consumers are in loops that may move, and the accumulators
  /// of these MMAs are only loaded afterwards.
  bool findLoops() {
    WalkResult result = consumer->walk([&](cta::Tcgen05MmaOp mma) -> WalkResult {
      scf::ForOp outermost;
      for (auto loop = dyn_cast<scf::ForOp>(mma->getParentOp()); loop && mayMove(loop);
           loop = dyn_cast<scf::ForOp>(loop->getParentOp()))
        outermost = loop;
      if (!outermost)
        return WalkResult::interrupt();
      auto known = llvm::find_if(loops, [&](MainLoop &main) { return main.loop == outermost; });
      if (known == loops.end()) {
        loops.emplace_back().loop = outermost;
        known = std::prev(loops.end());
      }
      known->accumulators.insert(mma.getAcc());
      return WalkResult::advance();
    });
    return !result.wasInterrupted() && llvm::all_of(loops, [&](MainLoop &main) { return areOnlyLoaded(main); });
  }

  bool areOnlyLoaded(MainLoop &main) {
    main.lastLoad = main.loop;
    for (Value accumulator : main.accumulators)
      for (Operation *user : accumulator.getUsers()) {
        if (main.loop->isAncestor(user))
          continue;
        Operation *outer = main.loop->getBlock()->findAncestorOpInBlock(*user);
        if (!isa<cta::TensorMemoryLoadOp>(user) || !outer || !main.loop->isBeforeInBlock(outer))
          return false;
        if (main.lastLoad->isBeforeInBlock(outer))
          main.lastLoad = outer;
      }
    return true;
  }

  /// Returns true if the consumers use the rings of the loops nowhere else. Otherwise, both roles would have to release
  /// each slot, because all roles that read a ring do.
  bool ringsAreTheirs() {
    WalkResult result = consumer->walk([&](cta::RingWaitOp wait) {
      bool isOfLoop = llvm::any_of(loops, [&](MainLoop &main) { return main.loop->isAncestor(wait); });
      bool isOnlyUsedInLoops = llvm::all_of(wait.getRing().getUsers(), [&](Operation *user) {
        return !consumer->getParentOp()->getRegion(0).isAncestor(user->getParentRegion()) ||
               llvm::any_of(loops, [&](MainLoop &main) { return main.loop->isAncestor(user); });
      });
      return !isOfLoop || isOnlyUsedInLoops ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  bool findSlice() {
    for (MainLoop &main : loops) {
      if (!slice.add(main.loop))
        return false;
      slice.need(main.loop.getLowerBound());
      slice.need(main.loop.getUpperBound());
      slice.need(main.loop.getStep());
      main.loop.getBody()->walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (!main.loop->isAncestor(operand.getParentBlock()->getParentOp()))
            slice.need(operand);
      });
    }
    return slice.close();
  }

  /// Appends the role: a warp of which one thread issues the MMAs.
  void createRole() {
    rewriter.setInsertionPoint(roles);
    SmallVector<Attribute> attributes(roles.getRoles().getValue());
    attributes.push_back(cta::RoleAttr::get(kernel.getContext(), "mma", /*warps=*/1, /*teams=*/1, /*registers=*/0,
                                            /*oneThread=*/true));
    auto wider =
        cta::WarpRolesOp::create(rewriter, roles.getLoc(), rewriter.getArrayAttr(attributes), attributes.size());
    for (auto [from, to] : llvm::zip(roles.getBodies(), wider.getBodies()))
      to.takeBody(from);
    mma = &wider.getBodies().back().emplaceBlock();
    before.setInsertionPoint(wider);
    rewriter.eraseOp(roles);
    roles = wider;
  }

  /// Gives the accumulators of a loop that runs repeatedly two slots, if there is room. Returns true if it did.
  bool doubleAccumulators(MainLoop &main) {
    int64_t columns = 0;
    for (auto alloc : kernel.getBody().front().getOps<cta::TensorMemoryAllocOp>())
      columns += alloc.getType().getColumns() * (main.accumulators.contains(alloc) ? 2 : 1);
    if (!isa<LoopLikeOpInterface>(main.loop->getParentOp()) || columns > int64_t(target::tensorMemoryColumns))
      return false;
    for (Value accumulator : main.accumulators) {
      OpBuilder builder(accumulator.getDefiningOp());
      main.doubled[accumulator] = cta::TensorMemoryAllocOp::create(
          builder, accumulator.getLoc(), cast<cta::TensorMemoryType>(accumulator.getType()).withSlots(2),
          /*base=*/Value(), /*offset=*/IntegerAttr());
    }
    return true;
  }

  /// Returns the accumulator in the slot of the ring.
  Value selectSlot(MainLoop &main, Value accumulator, Value slot) {
    Value doubled = main.doubled.lookup(accumulator);
    return doubled ? cta::TensorMemorySlotOp::create(rewriter, main.loop.getLoc(), accumulator.getType(), doubled, slot)
                   : accumulator;
  }

  void cloneOps(Block &block) {
    for (Operation &op : block) {
      if (!slice.ops.contains(&op))
        continue;
      auto main = llvm::find_if(loops, [&](MainLoop &candidate) { return candidate.loop == &op; });
      if (main != loops.end())
        cloneLoop(*main);
      else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, ProgramsOp>(op))
        ControlCloner(rewriter, mapping, slice.carried, [&](Block &body) { cloneOps(body); }).clone(&op);
      else
        rewriter.clone(op, mapping);
    }
  }

  void cloneLoop(MainLoop &main) {
    Location loc = main.loop.getLoc();
    Value slot = cta::RingAcquireOp::create(rewriter, loc, main.done);
    cta::TensorMemoryFenceOp::create(rewriter, loc, /*before=*/false);
    for (Value accumulator : main.accumulators)
      mapping.map(accumulator, selectSlot(main, accumulator, slot));
    Operation *clone = rewriter.clone(*main.loop, mapping);
    clone->walk([&](Operation *op) {
      if (auto release = dyn_cast<cta::RingReleaseOp>(op))
        release.setByMma(true);
      else if (isa<cta::Tcgen05AwaitOp, cta::Tcgen05CommitOp>(op))
        op->erase();
    });
    cta::RingCommitOp::create(rewriter, loc, main.done, slot, /*by_mma=*/true);
  }

  void rewriteForConsumer(MainLoop &main) {
    Location loc = main.loop.getLoc();
    rewriter.setInsertionPoint(main.loop);
    Value slot = cta::RingWaitOp::create(rewriter, loc, main.done);
    Operation *last = cta::TensorMemoryFenceOp::create(rewriter, loc, /*before=*/false);
    for (Value accumulator : main.accumulators)
      if (Value selected = selectSlot(main, accumulator, slot); selected != accumulator) {
        rewriter.replaceUsesWithIf(accumulator, selected,
                                   [&](OpOperand &use) { return isa<cta::TensorMemoryLoadOp>(use.getOwner()); });
        last = selected.getDefiningOp();
      }
    rewriter.setInsertionPointAfter(main.lastLoad == main.loop ? last : main.lastLoad);
    cta::TensorMemoryFenceOp::create(rewriter, loc, /*before=*/true);
    cta::RingReleaseOp::create(rewriter, loc, main.done, slot, /*condition=*/Value(), /*tokens=*/ValueRange(),
                               /*by_mma=*/false);
    rewriter.eraseOp(main.loop);
  }

  KernelOp kernel;
  cta::WarpRolesOp roles;
  Block *consumer, *mma = nullptr;
  IRRewriter rewriter;
  OpBuilder before{kernel.getContext()}; ///< insertion point before the roles
  RoleSlice slice;
  SmallVector<MainLoop> loops;
  IRMapping mapping; // from the consumers to the issuing thread
};

struct CtaSpecializeMma : tile::impl::CtaSpecializeMmaBase<CtaSpecializeMma> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    cta::WarpRolesOp roles = cta::findRoles(kernel);
    // In a cluster, shared slots would have to be released in all CTAs; teams count slots separately. Neither is
    // supported.
    if (!roles || kernel.getClusterCtas() > 1 || kernel.getPingPong() || roles.countResidentCtas() != 0)
      return;
    SmallVector<Value> barriers;
    kernel.walk([&](cta::Tcgen05CommitOp commit) { barriers.push_back(commit.getBarrier()); });
    if (!MmaSpecialisation(kernel, roles).run())
      return;
    for (Value barrier : barriers)
      if (barrier.use_empty())
        barrier.getDefiningOp()->erase();
  }
};

} // namespace
